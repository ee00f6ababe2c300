"""SQL over Parquet files that FuseScope wrote: questions only, of these files only."""
