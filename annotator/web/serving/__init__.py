"""The layers between server and web pages: gateway, headers, compression, request log."""
