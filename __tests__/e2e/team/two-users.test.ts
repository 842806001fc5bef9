import { describe, expect, test } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inRealTime, type Person, type RunDoc, TeamService } from './team-service.js'

interface People {
  readonly ann: Person
  readonly ben: Person
  readonly eve: Person
  readonly cleo: Person
}

/** Each test has a service of its own: they wait at the same time. */
async function withTeam(act: (team: TeamService, people: People) => Promise<void>): Promise<void> {
  const team = await TeamService.create({ config: 'max-nodes: 1' })
  try {
    await team.start()
    const [ann, ben, eve, cleo] = await Promise.all([
      team.addUser('ann', 'member'),
      team.addUser('ben', 'member'),
      team.addUser('eve', 'viewer'),
      team.addUser('cleo', 'admin')
    ])
    await act(team, { ann, ben, eve, cleo })
  } finally {
    await team.remove()
  }
}

/** The text of every file below a folder. */
function* textsBelow(folder: string): Generator<[file: string, text: string]> {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile()) yield [file, readFileSync(file, 'latin1')]
  }
}

describe('two users with a gate each, on one node', () => {
  test.concurrent(
    'wait for each other, and only touch what is theirs',
    () =>
      withTeam(async (team, { ann, ben, eve, cleo }) => {
        const first = team.startGate(ann, 'first', [...inRealTime(15), '--thresholds', 'p95 < 9s'])
        const { uuid } = await team.waitForRun(cleo, 'first', ['running'])
        const second = team.startGate(ben, 'second', [...inRealTime(1), '--thresholds', 'p95 < 9s'])
        const waiting = await team.waitForRun(cleo, 'second', ['queued'])
        const statusOf = async (person: Person | undefined, method: string, path: string): Promise<number> =>
          (await team.send(method, path, person && { person })).status
        const grid = (await team.send('GET', `/runs/${uuid}`, { person: cleo })).json._embedded.grids[0]!.uuid

        for (const effect of ['stop', 'repeat']) {
          expect(await statusOf(ben, 'GET', `/runs/${uuid}/${effect}`)).toBe(403)
          expect(await statusOf(eve, 'GET', `/runs/${uuid}/${effect}`)).toBe(403)
          expect(await statusOf(undefined, 'GET', `/runs/${uuid}/${effect}`)).toBe(401)
          expect(await statusOf(ben, 'HEAD', `/runs/${uuid}/${effect}`)).toBe(404)
        }
        expect(await statusOf(ben, 'DELETE', `/grids/${grid}`)).toBe(403)
        expect(await statusOf(eve, 'DELETE', `/grids/${grid}`)).toBe(403)
        expect(await statusOf(eve, 'POST', '/runs')).toBe(403)
        expect(await statusOf(eve, 'POST', '/grids')).toBe(403)
        // Everyone reads everything.
        for (const person of [ann, ben, eve, cleo])
          expect(await statusOf(person, 'GET', `/runs/${uuid}`)).toBe(200)
        expect((await team.runNamed(cleo, 'first'))?.status).toBe('running')
        const { json } = await team.send('GET', `/runs/${waiting.uuid}`, { person: ben })
        expect((json as RunDoc).queue_position).toBe(1)

        const ended = await Promise.all([first.ended, second.ended])
        expect(ended.map(({ code }) => code)).toEqual([0, 0])
        expect(second.text()).toMatch(/queue.*position 1|position 1.*queue/i)
        expect(first.text()).not.toMatch(/position/)
        expect(first.text()).not.toContain(waiting.uuid)
        expect(second.text()).not.toContain(uuid)
        const account = (await team.send('GET', '/account', { person: ben })).text
        expect(account).toContain('redacted')
        expect(account).not.toContain('ann')
        expectNoSecret(team, { people: [ann, ben, eve, cleo], texts: [first.text(), second.text()] })
      }),
    120_000
  )

  test.concurrent(
    'an admin stops and repeats what belongs to another',
    () =>
      withTeam(async (team, { ann, cleo }) => {
        const gate = team.startGate(ann, 'first', inRealTime(60))
        const { uuid } = await team.waitForRun(cleo, 'first', ['running'])
        // With samples: a gate looks for the apdex of a run without any for half a minute.
        await new Promise((resolve) => setTimeout(resolve, 1500))
        expect((await team.send('GET', `/runs/${uuid}/stop`, { person: cleo })).status).toBe(200)
        // Stopped by somebody else: never green.
        expect((await gate.ended).code).toBe(2)
        expect(team.verdictOf('first').verdict).toBe('inconclusive')
        const repeat = await team.send('GET', `/runs/${uuid}/repeat`, { person: cleo })
        expect(repeat.status).toBe(200)
        await team.send('GET', `/runs/${repeat.json.uuid}/stop`, { person: cleo })
      }),
    120_000
  )

  test.concurrent(
    'have their turn in a fair order: nobody waits behind all runs of another',
    () =>
      withTeam(async (team, { ann, ben, eve, cleo }) => {
        const flags = inRealTime(1)
        const gates = [team.startGate(ann, 'ann-1', inRealTime(60))]
        const atWork = await team.waitForRun(cleo, 'ann-1', ['running'])
        for (const [person, name] of [
          [ann, 'ann-2'],
          [ann, 'ann-3'],
          [ben, 'ben-1']
        ] as const) {
          gates.push(team.startGate(person, name, flags))
          await team.waitForRun(cleo, name, ['queued'])
        }
        const positions = await Promise.all(
          ['ben-1', 'ann-2', 'ann-3'].map(async (name) => {
            const { uuid } = (await team.runNamed(cleo, name))!
            return ((await team.send('GET', `/runs/${uuid}`, { person: eve })).json as RunDoc).queue_position
          })
        )
        expect(positions).toEqual([1, 2, 3])
        // However long it took until all were waiting.
        expect((await team.send('GET', `/runs/${atWork.uuid}/stop`, { person: ann })).status).toBe(200)
        const ended = await Promise.all(gates.map((gate) => gate.ended))
        expect(ended.map(({ code }) => code)).toEqual([2, 0, 0, 0])
        const runs = await team.listRuns(cleo)
        const order = runs.toSorted((one, other) => Date.parse(one.started) - Date.parse(other.started))
        expect(order.map(({ name }) => name)).toEqual(['ann-1', 'ben-1', 'ann-2', 'ann-3'])
        // One node: each started after the one before had ended.
        for (const [index, run] of order.entries())
          expect(Date.parse(run.started)).toBeGreaterThanOrEqual(
            Date.parse(order[index - 1]?.stopped ?? run.started) - 1000
          )
      }),
    120_000
  )
})

function expectNoSecret(
  team: TeamService,
  { people, texts }: { people: readonly Person[]; texts: readonly string[] }
): void {
  const files = [...textsBelow(team.folder)].filter(([file]) => !file.endsWith('key.pem'))
  const all = [
    ...files,
    ['the log of the service', team.log],
    ...texts.map((text) => ['the log of a gate', text])
  ]
  const secrets = people.flatMap(({ token }) => [
    token,
    Buffer.from(`${token}:`).toString('base64'),
    // Its secret part, which may have underscores itself.
    token.replace(/^lg_[^_]+_/, '')
  ])
  const found = all.filter(([, text]) => secrets.some((secret) => text!.includes(secret)))
  expect(found.map(([place]) => place)).toEqual([])
}
