import TestRunner from 'jest-runner'

/** Jest's runner, one file after the other, for tests that need the machine for themselves. */
export default class OneByOne extends TestRunner {
  isSerial = true
}
