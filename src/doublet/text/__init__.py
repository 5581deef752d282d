"""2. Text: words with places, sentences, paragraphs, tricks undone. See docs/explanation/canonical-form.md."""
