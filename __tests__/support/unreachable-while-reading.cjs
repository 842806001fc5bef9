// Preloaded into a step: where the service says "102 Processing", the route to it is lost while the rest of its answer is read.
const { Socket } = require('node:net')

const { read } = Socket.prototype
Socket.prototype.read = function readOrFail(...args) {
  const chunk = read.apply(this, args)
  if (chunk === null || !chunk.toString('latin1').startsWith('HTTP/1.1 102 ')) return chunk
  this.destroy(Object.assign(new Error('read EHOSTUNREACH'), { code: 'EHOSTUNREACH', syscall: 'read' }))
  return null
}
