"""The client library and the terminal client, against a real server over real sockets."""
