import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { join } from 'node:path'
import type { Command } from '../e2e/cli-command.js'
import { type Person, TeamService } from '../e2e/team/team-service.js'
import { describeWithCluster, LISTEN_ON, PodStage } from '../support/kubernetes/stage.js'
import { type CountingTarget, startCountingTarget } from '../support/tools/counting-target.js'

let stage: PodStage
let team: TeamService
let other: CountingTarget

beforeEach(async () => {
  stage = await new PodStage().start()
  other = await startCountingTarget(LISTEN_ON)
  team = await TeamService.create({
    isRehearsal: false,
    config: `max-nodes: 2\nregions: ${stage.regions()}`
  })
  team.env = { KUBECONFIG: stage.kubeconfig }
  await team.start()
})
afterEach(async () => {
  await team.remove()
  await other.close()
  await stage.close()
})

interface Wish {
  readonly person: Person
  readonly nodes: number
  readonly durationSec: number
  readonly target: CountingTarget
  /** One that exists, as `grids` names it, instead of its own. */
  readonly grid?: string
}

function startGate(name: string, { person, nodes, durationSec, target, grid }: Wish): Command {
  const parameters = stage.parameters.replace(/\d+$/, String(target.port))
  return stage.command(
    [
      ...['run', '--base-url', team.url, '--files', 'plan.jmx\nusers.csv', '--name', name],
      ...['--grids', grid ?? stage.grids({ region: 'here', instance_quantity: nodes }), '--output', name],
      ...['--duration', `${durationSec}s`, '--threads', '2', '--override-parameters', parameters],
      ...['--thresholds', 'error_rate < 1%', '--poll-interval', '1s']
    ],
    { LOADGATE_TOKEN: person.token, NODE_EXTRA_CA_CERTS: join(team.folder, 'cert.pem') }
  )
}

describeWithCluster(
  'a service for a team that is killed with one run on pods and another one in the queue',
  () => {
    test('goes on with the first and then starts the second: every sample of both arrives, and nothing is left', async () => {
      const ann = await team.addUser('ann', 'member')
      const ben = await team.addUser('ben', 'member')
      const first = startGate('first', { person: ann, nodes: 2, durationSec: 12, target: stage.target })
      await stage.podsRun(2)
      const second = startGate('second', { person: ben, nodes: 1, durationSec: 4, target: other })
      await second.shows(/position 1/)
      await stage.target.reaches(20)
      await team.kill()
      await team.start()
      const [one, two] = [await stage.result(first, 'first'), await stage.result(second, 'second')]
      expect(one).toMatchObject({ code: 0, verdict: 'passed', samples: stage.target.hits() })
      expect(two).toMatchObject({ code: 0, verdict: 'passed', samples: other.hits() })
      expect(two.samples).toBeGreaterThan(0)
      const runs = (await team.listRuns(ann)).map(({ name, status }) => [name, status])
      expect(runs).toEqual([
        ['second', 'finished'],
        ['first', 'finished']
      ])
      expect(await stage.leftBehind()).toEqual([])
    })
  }
)

describeWithCluster('two gates on one grid of a service', () => {
  test('have pods one after the other, and the grid has none before, between and after them', async () => {
    const person = await team.addUser('ann', 'member')
    const [spec] = JSON.parse(stage.grids({ region: 'here', instance_quantity: 2 })) as unknown[]
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ grid: spec })
    const grid = (await team.send('POST', '/grids', { person, body, headers })).json.uuid
    const statusOf = async (): Promise<string> =>
      (await team.send('GET', `/grids/${grid}`, { person })).json.status
    while ((await statusOf()) === 'queued');
    expect([await statusOf(), await stage.leftBehind()]).toEqual(['started', []])
    const wish = { person, nodes: 2, durationSec: 6, grid: `- uuid: ${grid}` }
    const first = startGate('first', { ...wish, target: stage.target })
    await stage.podsRun(2)
    const second = startGate('second', { ...wish, target: other })
    await second.shows(/position 1/)
    const results = [await stage.result(first, 'first'), await stage.result(second, 'second')]
    expect(results.map(({ verdict }) => verdict)).toEqual(['passed', 'passed'])
    expect(results.map(({ samples }) => samples)).toEqual([stage.target.hits(), other.hits()])
    expect([await statusOf(), await stage.leftBehind()]).toEqual(['started', []])
  })
})
