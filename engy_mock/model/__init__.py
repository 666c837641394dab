"""The pretend model: its cards, tokens, language, templates, and how an answer is made."""
