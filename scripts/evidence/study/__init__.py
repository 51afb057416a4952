"""Paper 001's study: HDCA against DCA."""
