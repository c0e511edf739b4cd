//! Every user-visible action: its id in the keymap and its title in the help. Says nothing about keys or effects.

macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $title:literal;)*) => {
        /// What a person can ask of the workbench.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action {
            $($(#[$doc])* $name,)*
        }

        impl Action {
            pub const ALL: &'static [Action] = &[$(Action::$name,)*];

            /// Its name in `assets/keymap.toml`.
            pub fn id(self) -> &'static str {
                match self {
                    $(Action::$name => $id,)*
                }
            }

            /// What the help says.
            pub fn title(self) -> &'static str {
                match self {
                    $(Action::$name => $title,)*
                }
            }
        }
    };
}

actions! {
    Help = "help", "help";
    SwitchRole = "switch-role", "switch between manager and reader";
    ToggleSide = "toggle-side", "swap tree and agent beside the page";
    FocusNext = "focus-next", "next pane";
    FocusPrevious = "focus-previous", "previous pane";
    FocusTree = "focus-tree", "go to the tree";
    FocusPage = "focus-page", "go to the page";
    FocusChat = "focus-chat", "go to the agent";
    Problems = "problems", "list of findings";
    Explain = "explain", "explain the rule";
    Review = "review", "review staged changes";
    Interrupt = "interrupt", "stop the running turn";
    Cancel = "cancel", "clear the draft, stop the turn; twice: quit";
    Redraw = "redraw", "draw the screen anew";
    Suspend = "suspend", "suspend to the shell";
    Quit = "quit", "quit";
    Up = "up", "up";
    Down = "down", "down";
    HalfUp = "half-up", "half a screen up";
    HalfDown = "half-down", "half a screen down";
    PageUp = "page-up", "a screen up";
    PageDown = "page-down", "a screen down";
    Top = "top", "to the top";
    Bottom = "bottom", "to the end";
    /// Opens what is selected: a tree row, a link, a citation, a finding.
    Open = "open", "open";
    Fold = "fold", "fold the folder, or go to its parent";
    Unfold = "unfold", "unfold the folder";
    Toggle = "toggle", "fold or unfold";
    LinkNext = "link-next", "next link";
    LinkPrevious = "link-previous", "previous link";
    Back = "back", "back";
    Forward = "forward", "forward";
    FindingNext = "finding-next", "next finding of the page";
    FindingPrevious = "finding-previous", "previous finding of the page";
    Send = "send", "send, or open the chosen citation";
    Newline = "newline", "new line";
    HistoryPrevious = "history-previous", "earlier message (on the first line)";
    HistoryNext = "history-next", "later message (on the last line)";
    DraftUndo = "draft-undo", "undo in the field";
    DraftRedo = "draft-redo", "redo in the field";
    DraftOutside = "draft-outside", "write the message in your editor";
    Unqueue = "unqueue", "drop the last waiting message";
    EntryPrevious = "entry-previous", "choose the entry above";
    EntryNext = "entry-next", "choose the entry below";
    Details = "details", "show or hide reasoning and results, or the chosen entry";
    Copy = "copy", "copy the chosen entry, or the last answer";
    Archive = "archive", "have the manager archive the reader's answer";
    Find = "find", "search in the conversation";
    FindNext = "find-next", "next place";
    FindPrevious = "find-previous", "previous place";
    Complete = "complete", "put in what is offered";
    History = "history", "what was applied, to take back";
    HunkNext = "hunk-next", "next change";
    HunkPrevious = "hunk-previous", "previous change";
    FileNext = "file-next", "next file";
    FilePrevious = "file-previous", "previous file";
    Approve = "approve", "approve the change";
    Reject = "reject", "reject the change with a reason";
    EditHere = "edit-here", "edit the proposed text here";
    EditOutside = "edit-outside", "edit the proposed text in your editor";
    PutOff = "put-off", "put the change off: it stays proposed";
    ApproveFile = "approve-file", "approve the whole file";
    RejectFile = "reject-file", "reject the whole file with a reason";
    Undecide = "undecide", "take the last decision back";
    ApproveAll = "approve-all", "approve everything";
    Preview = "preview", "the page as it would be";
    Split = "split", "before and after side by side";
    Whole = "whole", "all lines of the file";
    Verdict = "verdict", "all that would appear and vanish";
    Undo = "undo", "take the set back";
    Redo = "redo", "bring the set about again";
    Apply = "apply", "write what is decided";
    /// Shows what would mend the chosen finding.
    Mend = "mend", "review the fix of the finding";
    Accept = "accept", "yes";
    Close = "close", "close";
}

impl Action {
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|a| a.id() == id)
    }
}
