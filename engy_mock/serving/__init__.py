"""The only input and output of the house: sockets, threads and in-process transports."""
