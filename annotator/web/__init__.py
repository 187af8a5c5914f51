"""HTTP in, HTTP out. No SQL, no arithmetic: a view reads input, calls one workflow, and renders what came back."""
