import { expect, test } from '@jest/globals'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Command, until } from '../cli-command.js'
import { type Person, TeamService } from './team-service.js'

const UPLOAD_BYTES = 50_000_000
const HELD_AFTER_BYTES = 5_000_000

interface Relay {
  readonly url: string
  readonly passedBytes: number
  /** Lets everything through from now on. */
  release(): void
  close(): void
}

/** A network on which an upload stops in the middle until it is told to go on. */
async function startRelay(to: string): Promise<Relay> {
  const target = Number(new URL(to).port)
  const held = new Set<Socket>()
  let isOpen = false
  let passedBytes = 0
  const server = createServer((caller) => {
    const service = connect(target, '127.0.0.1')
    service.pipe(caller)
    caller.on('data', (chunk) => {
      passedBytes += chunk.length
      service.write(chunk)
      if (isOpen || passedBytes < HELD_AFTER_BYTES) return
      caller.pause()
      held.add(caller)
    })
    for (const [one, other] of [
      [caller, service],
      [service, caller]
    ] as const) {
      one.on('error', () => undefined)
      one.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    close: () => void server.close(),
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get passedBytes() {
      return passedBytes
    },
    release: () => {
      isOpen = true
      for (const socket of held) socket.resume()
    }
  }
}

/** A gate in the middle of its upload, and nobody else. */
async function withUpload(
  config: string,
  act: (around: { team: TeamService; ann: Person; relay: Relay; gate: Command }) => Promise<void>
): Promise<void> {
  const team = await TeamService.create({ config })
  const relay = await startRelay(team.url)
  try {
    await team.start()
    const ann = await team.addUser('ann', 'member')
    team.gateUrl = relay.url
    const folder = join(team.folder, 'gate-large')
    mkdirSync(folder)
    writeFileSync(join(folder, 'data.bin'), '')
    truncateSync(join(folder, 'data.bin'), UPLOAD_BYTES)
    const flags = ['--files', 'data.bin', '--duration', '2s', '--thresholds', 'p95 < 9s']
    const gate = team.startGate(ann, 'large', flags)
    await until(() => relay.passedBytes >= HELD_AFTER_BYTES)
    await act({ team, ann, relay, gate })
  } finally {
    await team.remove()
    relay.close()
  }
}

test.concurrent(
  'a service that drains lets the upload arrive; its gate waits for the next service, and starts one run',
  () =>
    withUpload('drain: 2m', async ({ team, ann, relay, gate }) => {
      const stopping = team.terminate()
      await until(() => /draining: .* 1 upload to arrive/.test(team.log))
      relay.release()
      expect((await stopping).code).toBe(0)
      await team.start()
      const { code, out, err } = await gate.ended
      expect(out + err).toMatch(/about to restart.* Nothing was created; waiting until the service is ready/)
      expect([code, (await team.listRuns(ann)).length]).toEqual([0, 1])
    }),
  120_000
)

test.concurrent(
  'a service that cannot wait for the upload cuts it off; its gate sends it again, and starts one run',
  () =>
    withUpload('drain: 1s', async ({ team, ann, relay, gate }) => {
      expect((await team.terminate()).code).toBe(0)
      relay.release()
      await team.start()
      const { code, out, err } = await gate.ended
      expect(out + err).toMatch(
        /No run with the tag .* was found\. The upload had broken off; sending it again/
      )
      expect(out + err).not.toMatch(/may still be running/)
      expect([code, (await team.listRuns(ann)).length]).toEqual([0, 1])
    }),
  120_000
)

test.concurrent(
  'a service that is killed and does not come back: the gate ends, and says that it cannot be reached',
  () =>
    withUpload('', async ({ team, relay, gate }) => {
      await team.kill()
      relay.release()
      const { code, out, err } = await gate.ended
      expect(code).toBe(2)
      expect(team.verdictOf('large')).toMatchObject({ verdict: 'error' })
      expect(out + err).toMatch(/ERROR: creating the run: the connection to 127\.0\.0\.1:\d+ failed/)
      expect(out + err).toMatch(/could not check whether the run was created/)
    }),
  300_000
)
