"""The dashboard as a web application: headers, origins, memory."""
