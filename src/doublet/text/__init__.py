"""2. Text: words with places, sentences, paragraphs, tricks undone: docs/explanation/canonical-form.md."""
