"""Files that are too large for Streamlit's uploader."""
