"""Generated code of the API; made from the .proto files beside it by `./run gen`."""
