"""From files to examples, and from grammars and shared tasks to datasets."""
