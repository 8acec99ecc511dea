"""A pygls server with nothing in it: what `initialize` costs at least."""

from pygls.lsp.server import LanguageServer

if __name__ == "__main__":
    LanguageServer("bare", "1").start_io()  # pyright: ignore[reportUnknownMemberType]
