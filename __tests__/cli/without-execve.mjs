// A Node before process.execve.
Reflect.deleteProperty(process, 'execve')
