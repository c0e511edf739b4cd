//! Any OpenAI-compatible endpoint, through async-openai.
