import { tmpdir } from 'node:os'
import { systemClock } from '../../src/contract/clock.js'
import type { Clock } from '../../src/contract/clock.js'
import type { CommandPorts } from '../../src/cli/ports.js'
import type { Stream } from '../../src/cli/screen.js'

/** Keeps what is written to it. */
export class Page implements Stream {
  text = ''
  isTTY = false
  columns = 80

  write(text: string): void {
    this.text += text
  }

  get lines(): string[] {
    return this.text.trimEnd().split('\n')
  }
}

export interface TestCommandPorts extends CommandPorts {
  readonly screen: { readonly out: Page; readonly err: Page }
  readonly cancellation: AbortController
}

/** Does not wait between polls of a service in this process, which ends its runs at once; deadlines are longer than that. */
export const EAGER_CLOCK: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms < LONGEST_POLL_MS ? 10 : ms, signal)
}
const LONGEST_POLL_MS = 3000

const absent = (): Promise<never> => Promise.reject(new Error('there is none here'))

/** Empty ports: each test provides what it needs. */
export function makeCommandPorts(changes: Partial<CommandPorts> = {}): TestCommandPorts {
  const cancellation = new AbortController()
  const screen = { out: new Page(), err: new Page() }
  return {
    cancelled: cancellation.signal,
    workspace: tmpdir(),
    token: '',
    baseUrl: '',
    platform: 'linux',
    version: '1.2.3',
    examplesDir: '/nowhere/examples',
    findFiles: () => () => Promise.resolve([]),
    openPrompt: () => undefined,
    hasJava: () => Promise.resolve(true),
    hasK6: () => Promise.resolve(true),
    startShop: absent,
    startLocalService: absent,
    serve: absent,
    openUsers: absent,
    openQueue: absent,
    prune: absent,
    ...changes,
    screen,
    cancellation
  }
}
