"""Web pages where an API is expected: what a proxy or an unconfigured host shows to a browser."""


def page(title: str, text: str) -> bytes:
    """A static page that says no more than this."""
    return (
        "<!DOCTYPE html>\n"
        f'<html>\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n<center><h1>{title}</h1></center>\n<hr>\n<p>{text}</p>\n</body>\n</html>\n"
    ).encode()
