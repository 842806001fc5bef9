import { describe, expect, test } from '@jest/globals'
import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runForm, formOf, specFields, type Doc, type Reply } from '../../service/support.js'
import { writeJMeter, writeSample } from '../../service/stand-in.js'
import { mountSmallDisk, type SmallDisk } from '../../support/small-disk.js'
import { until } from '../cli-command.js'
import { inRealTime, type Person, type TeamOptions, TeamService } from './team-service.js'
import { removeFolder } from '../../support/remove-folder.js'

interface Around {
  readonly team: TeamService
  readonly ann: Person
  readonly ben: Person
}

/** Each test has a service of its own: they wait at the same time. */
async function withTeam(
  {
    prepare,
    unmount,
    ...options
  }: TeamOptions & { prepare?: (team: TeamService) => void; unmount?: () => void },
  act: (around: Around) => Promise<void>
): Promise<void> {
  const team = await TeamService.create(options)
  try {
    prepare?.(team)
    await team.start()
    const [ann, ben] = await Promise.all([team.addUser('ann', 'member'), team.addUser('ben', 'member')])
    await act({ team, ann, ben })
  } finally {
    if (unmount) {
      await team.kill()
      unmount()
    }
    await team.remove()
  }
}

const rowsOf = async ({ team, ann }: Around, run: Doc): Promise<number> => {
  const { status, text } = await team.send('GET', `/runs/${run.uuid}/result.csv`, { person: ann })
  expect(status).toBe(200)
  return text.trim().split('\n').length - 1
}

/** As a browser does it. */
const logIn = ({ team, ann }: Around): Promise<Reply> =>
  team.send('POST', '/login', {
    headers: {
      ...{ accept: 'text/html', origin: team.url },
      'content-type': 'application/x-www-form-urlencoded'
    },
    body: new URLSearchParams({ token: ann.token, next: '/' }).toString()
  })

describe('a service that is stopped with one run at work and one in the queue', () => {
  test.concurrent(
    'lets the first end and the second wait for the next service; both gates pass',
    () =>
      withTeam({ config: 'max-nodes: 1\ndrain: 2m' }, async (around) => {
        const { team, ann, ben } = around
        const first = team.startGate(ann, 'first', [...inRealTime(5), '--thresholds', 'p95 < 9s'])
        const atWork = await team.waitForRun(ann, 'first', ['running'])
        const second = team.startGate(ben, 'second', [...inRealTime(1), '--thresholds', 'p95 < 9s'])
        const waiting = await team.waitForRun(ann, 'second', ['queued'])
        const stopping = team.terminate()
        await until(() => /drain/i.test(team.log))
        const late = await team.send('POST', '/runs', { person: ben, ...formOf(runForm()) })
        expect([late.status, late.json.error]).toEqual([
          503,
          expect.stringMatching(/drain|stopp|restart|shut/i)
        ])
        expect((await team.send('GET', '/readyz')).status).toBe(503)
        expect((await stopping).code).toBe(0)
        await team.start()
        const ended = await Promise.all([first.ended, second.ended])
        expect(ended.map(({ code }) => code)).toEqual([0, 0])
        expect((await team.waitForRun(ann, 'first', ['finished'])).uuid).toBe(atWork.uuid)
        expect((await team.waitForRun(ann, 'second', ['finished'])).uuid).toBe(waiting.uuid)
        expect(await team.listRuns(ann)).toHaveLength(2)
      }),
    120_000
  )

  test.concurrent(
    'ends what takes longer than that, with its partial results; that gate is not green',
    () =>
      withTeam({ config: 'max-nodes: 1\ndrain: 1s' }, async (around) => {
        const { team, ann, ben } = around
        const first = team.startGate(ann, 'first', [...inRealTime(60), '--thresholds', 'p95 < 9s'])
        await team.waitForRun(ann, 'first', ['running'])
        const second = team.startGate(ben, 'second', [...inRealTime(1), '--thresholds', 'p95 < 9s'])
        await team.waitForRun(ann, 'second', ['queued'])
        await new Promise((resolve) => setTimeout(resolve, 1500))
        expect((await team.terminate()).code).toBe(0)
        await team.start()
        const [one, other] = await Promise.all([first.ended, second.ended])
        expect([one.code, other.code]).toEqual([2, 0])
        expect(team.verdictOf('first').verdict).toBe('inconclusive')
        const cut = await team.waitForRun(ann, 'first', ['problem'])
        expect(await rowsOf(around, cut)).toBeGreaterThan(0)
        const { json } = await team.send('GET', `/runs/${cut.uuid}`, { person: ann })
        expect(json.remote_errors).toMatch(/service|drain|stopped|restart/i)
      }),
    120_000
  )
})

test.concurrent(
  'a service that is killed: what waited goes on waiting, what was at work is a problem and not green',
  () =>
    withTeam({ config: 'max-nodes: 1' }, async (around) => {
      const { team, ann, ben } = around
      const first = team.startGate(ann, 'first', [...inRealTime(60), '--thresholds', 'p95 < 9s'])
      const atWork = await team.waitForRun(ann, 'first', ['running'])
      const second = team.startGate(ben, 'second', [...inRealTime(1), '--thresholds', 'p95 < 9s'])
      const waiting = await team.waitForRun(ann, 'second', ['queued'])
      await new Promise((resolve) => setTimeout(resolve, 1500))
      await team.kill()
      await team.start()
      const [one, other] = await Promise.all([first.ended, second.ended])
      expect([one.code, other.code]).toEqual([2, 0])
      expect(team.verdictOf('first').verdict).toBe('inconclusive')
      expect(one.out + one.err).toMatch(/service/)
      const runs = await team.listRuns(ann)
      expect(runs.map(({ uuid, status }) => [uuid, status])).toEqual([
        [waiting.uuid, 'finished'],
        [atWork.uuid, 'problem']
      ])
      expect(await rowsOf(around, runs[1]!)).toBeGreaterThan(0)
    }),
  120_000
)

/** Where it is required, a test that cannot mount a disk fails instead. */
const canMount = process.env.LOADGATE_REQUIRE_MOUNT !== undefined || tryToMount()
function tryToMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'loadgate-mount-'))
  const probe = mountSmallDisk(folder)
  probe?.unmount()
  removeFolder(folder)
  return probe !== undefined
}
const testOnDisk = canMount ? test.concurrent : test.skip

testOnDisk(
  `a full disk is said, and what was there before is there afterwards${canMount ? '' : ' (skipped: this process may not mount one)'}`,
  async () => {
    let disk: SmallDisk | undefined
    const prepare = ({ dataDir }: TeamService): void => {
      disk = mountSmallDisk(dataDir)
    }
    await withTeam({ config: 'max-nodes: 2', prepare, unmount: () => disk?.unmount() }, async (around) => {
      const { team, ann } = around
      const flags = ['--duration', '5s', '--thresholds', 'p95 < 9s']
      expect((await team.startGate(ann, 'before', flags).ended).code).toBe(0)
      const { headers } = await logIn(around)
      disk!.fill()
      const during = await team.startGate(ann, 'during', flags).ended
      expect(during.code).toBe(2)
      expect(during.out + during.err).toMatch(
        /answered 507: the run was not created: the service's disk is full; free up space there/
      )
      expect(during.out + during.err).not.toMatch(/may still be running|Looking for the run/)
      const refused = await logIn(around)
      expect([refused.status, refused.text, refused.headers['set-cookie']]).toEqual([
        507,
        "you cannot log in: the service's disk is full; free up space there and try again",
        undefined
      ])
      // Whoever logged in before still sees the pages.
      const cookie = String(headers['set-cookie']).split(';')[0]!
      const page = await team.send('GET', '/', { headers: { accept: 'text/html', cookie } })
      expect([page.status, page.text]).toEqual([200, expect.stringContaining('before')])
      expect((await team.send('GET', '/healthz')).status).toBe(200)
      // It is not looked at with every request.
      let readiness: Reply
      do readiness = await team.send('GET', '/readyz')
      while (readiness.status === 200)
      expect([readiness.status, readiness.json.error]).toEqual([503, expect.stringMatching(/ENOSPC/)])
      const before = await team.waitForRun(ann, 'before', ['finished'])
      expect(await rowsOf(around, before)).toBeGreaterThan(0)
      disk!.free()
      expect((await team.startGate(ann, 'after', flags).ended).code).toBe(0)
      expect((await logIn(around)).status).toBe(303)
      await team.kill()
      await team.start()
      expect((await team.listRuns(ann)).map(({ name, status }) => [name, status])).toEqual([
        ['after', 'finished'],
        ['before', 'finished']
      ])
    })
  },
  120_000
)

testOnDisk(
  'a full disk does not keep a service from starting that may delete runs',
  async () => {
    let disk: SmallDisk | undefined
    const prepare = ({ dataDir }: TeamService): void => {
      disk = mountSmallDisk(dataDir)
    }
    await withTeam({ prepare, unmount: () => disk?.unmount() }, async ({ team, ann }) => {
      const plan = `<HTTPSamplerProxy testname="home" enabled="true"/>${' '.repeat(500_000)}`
      for (const name of ['one', 'two', 'three']) {
        const form = formOf(runForm({ name, duration: '1' }, specFields(), plan))
        expect((await team.send('POST', '/runs', { person: ann, ...form })).status).toBe(201)
        await team.waitForRun(ann, name, ['finished'])
      }
      await team.kill()
      appendFileSync(team.configFile, 'retention: { runs-per-project: 1, at-least: 0 }\n')
      disk!.fill()
      await team.start()
      expect((await team.listRuns(ann)).map(({ name }) => name)).toEqual(['three'])
    })
  },
  120_000
)

test.concurrent.each([
  ['an hour forward', 3_600_000],
  ['an hour back', -3_600_000]
])(
  'a clock that jumps %s ends no run, and loses none',
  async (_, byMs) => {
    const goOn = 'while [ ! -e "$LOADGATE_GO_ON" ]; do sleep 0.05; done'
    const filesOf = ({ folder }: TeamService) => ({ jump: join(folder, 'jump'), goOn: join(folder, 'go-on') })
    const options: Parameters<typeof withTeam>[0] = {
      config: 'max-nodes: 1',
      isRehearsal: false,
      nodeFlags: ['--import', resolve('__tests__/e2e/team/clock-jump.mjs')],
      prepare: (team) => {
        const files = filesOf(team)
        const home = writeJMeter(join(team.folder, 'jmeter'), [
          writeSample('home'),
          goOn.replace('$LOADGATE_GO_ON', files.goOn),
          writeSample('home')
        ])
        team.env = { LOADGATE_JUMP_FILE: files.jump, JMETER_HOME: home }
      }
    }
    await withTeam(options, async ({ team, ann, ben }) => {
      const files = filesOf(team)
      const gates = [team.startGate(ann, 'first', ['--thresholds', 'p95 < 9s'])]
      await team.waitForRun(ann, 'first', ['running'])
      // Rows that are an hour off are a clock's if they take as long as the load: its time, not that of starting it on a busy machine.
      gates.push(team.startGate(ben, 'second', ['--thresholds', 'p95 < 9s', '--duration', '2']))
      await team.waitForRun(ann, 'second', ['queued'])
      writeFileSync(files.jump, String(byMs))
      team.process.child.kill('SIGUSR2')
      await new Promise((resolve) => setTimeout(resolve, 1500))
      expect((await team.waitForRun(ann, 'first', ['running', 'problem', 'finished'])).status).toBe('running')
      writeFileSync(files.goOn, '')
      const ended = await Promise.all(gates.map((gate) => gate.ended))
      expect(ended.map(({ code, out, err }) => (code === 0 ? code : [code, out, err]))).toEqual([0, 0])
      expect((await team.listRuns(ben)).map(({ name, status }) => [name, status])).toEqual([
        ['second', 'finished'],
        ['first', 'finished']
      ])
    })
  },
  120_000
)
