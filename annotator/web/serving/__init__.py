"""What stands between the server and the pages: the gateway, headers, compression, the request log."""
