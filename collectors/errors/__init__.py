"""What engines and libraries say when they fail, as a sentence and a next step."""
