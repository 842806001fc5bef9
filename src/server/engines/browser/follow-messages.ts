import { closeSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { readMessage, type Message } from '../../../tools/element/messages.js'

const LOOK_EVERY_MS = 200
const CHUNK_BYTES = 65_536

/** Calls back for every message that a process writes into this file, soon after it was written. */
export function followMessages(file: string, onMessage: (message: Message) => void): { end: () => void } {
  // Held open, so that nothing is lost if the file is removed.
  const descriptor = openSync(file, 'a+')
  const chunk = Buffer.alloc(CHUNK_BYTES)
  const decoder = new StringDecoder('utf8')
  let position = 0
  let rest = ''
  const look = (): void => {
    for (let length = -1; length !== 0;) {
      length = readSync(descriptor, chunk, 0, CHUNK_BYTES, position)
      position += length
      const lines = (rest + decoder.write(chunk.subarray(0, length))).split('\n')
      // A process that was killed may not have finished its last line.
      rest = lines.pop() ?? ''
      for (const line of lines) onMessage(readMessage(line))
    }
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  return {
    /** Once the process has ended: reads what is left. */
    end: () => {
      clearInterval(timer)
      look()
      closeSync(descriptor)
    }
  }
}
