"""An S3-compatible server on loopback for the tests, by moto: `object-store.py PORT_FILE`.

Takes a free port, makes the bucket `wikiwright-tests` and writes the port to PORT_FILE. Ends with its standard input, so that it never outlives whoever started it.
One request at a time: a write on a condition is then as atomic as in a real store, which moto itself does not promise.
"""

import os
import sys
import threading
import urllib.request

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server


def main() -> None:
    application = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", 0, application, threaded=False)

    def end_with_input() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=end_with_input, daemon=True).start()
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    bucket = f"http://127.0.0.1:{server.server_port}/wikiwright-tests"
    urllib.request.urlopen(urllib.request.Request(bucket, method="PUT"), timeout=60).close()
    # Whoever waits for the file must not read half of it.
    port_file = sys.argv[1]
    with open(port_file + ".new", "w", encoding="ascii") as file:
        file.write(str(server.server_port))
    os.replace(port_file + ".new", port_file)
    serving.join()


main()
