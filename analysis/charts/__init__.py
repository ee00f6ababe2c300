"""Values -> Plotly figures. Text from a trace is escaped: Plotly reads labels as markup."""
