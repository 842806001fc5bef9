import { expect, test } from '@jest/globals'
import { makeKills } from '../../support/faults/fault-kills.js'
import { runAll } from '../../support/faults/fault-run.js'

test('the runner’s own sequence, SIGINT, 7.5 s, SIGTERM, 2.5 s, SIGKILL, with a stop that is slow', async () => {
  const names = ['while watching, /stop takes 9 s', 'between run and reply, /stop takes 9 s']
  const scenarios = makeKills(1).filter(({ name }) =>
    names.some((each) => name === `The runner cancels ${each}`)
  )
  const results = await runAll(scenarios, { parallel: 2 })
  expect(results.map(({ problems, verdict }) => ({ problems, verdict }))).toEqual(
    names.map(() => ({ problems: [], verdict: 'cancelled' }))
  )
}, 120_000)
