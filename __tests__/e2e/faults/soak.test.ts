import { expect, test } from '@jest/globals'
import { soak } from '../../support/faults/fault-soak.js'

/** Memory and descriptors of another process are read from /proc. */
const testOnLinux = process.platform === 'linux' ? test : test.skip

testOnLinux(
  'gates in a row and at once leave nothing behind in the service, and every verdict is right',
  async () => {
    const { problems, table } = await soak({ inARow: 6, atOnce: 6 })
    expect(problems).toEqual([])
    expect(table).toContain('6 at once later')
  },
  120_000
)
