module example.com/harbor

go 1.22
