// Loaded into the process of a service before anything else: on SIGUSR2 its clock jumps by the milliseconds in a file.
import { readFileSync } from 'node:fs'

const RealDate = Date
let offsetMs = 0
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + offsetMs)
    else super(...given)
  }
  static now() {
    return RealDate.now() + offsetMs
  }
}
process.on('SIGUSR2', () => {
  offsetMs += Number(readFileSync(process.env.LOADGATE_JUMP_FILE, 'utf8'))
})
