import { join, relative, resolve } from 'node:path'
import type { Arguments, Flag } from './arguments.js'
import { readArguments } from './arguments.js'
import { GATE_FLAGS, nameOutputFolder, runGateCommand } from './gate-command.js'
import type { GateCommandPorts } from './gate-command.js'

export interface DemoPorts extends GateCommandPorts {
  /** Where the example is. */
  readonly exampleDir: string
  startShop(slow: boolean): Promise<{ port: number; served(): number; close(): Promise<void> }>
  hasJava(): Promise<boolean>
}

export const DEMO_FLAGS: readonly Flag[] = [
  { name: 'slow', about: 'Make the shop slow, so that the gate fails.' },
  { name: 'rehearse', about: 'Generate synthetic samples instead of load.' }
]

/** `npm start`: a demo shop on loopback, and the gate of examples/shop on it. */
export async function runDemoCommand(args: Arguments, ports: DemoPorts): Promise<number> {
  const { out } = ports.screen
  const shop = await ports.startShop(args.has('slow'))
  try {
    out.write(`A ${args.has('slow') ? 'slow ' : ''}demo shop is open on 127.0.0.1:${shop.port}.\n`)
    const rehearse = args.has('rehearse') || !(await ports.hasJava())
    if (rehearse && !args.has('rehearse'))
      out.write(
        'Java was not found, so this is a rehearsal with synthetic samples. Install Java 17 and Maven for a real load test.\n'
      )
    // The example's paths are relative to the clone's root, wherever this was typed; results go to the current directory.
    const root = resolve(ports.exampleDir, '../..')
    const gateArgs = [
      '--config',
      relative(root, join(ports.exampleDir, 'loadgate.yml')),
      '--output',
      resolve(ports.workspace, nameOutputFolder()),
      '--override-parameters',
      `-Jport=${shop.port}`,
      ...(rehearse ? ['--rehearse'] : [])
    ]
    // A token that happens to be in the environment is for another service; the embedded one needs none.
    const demoWorld = { ...ports, workspace: root, token: '' }
    const code = await runGateCommand(readArguments(gateArgs, GATE_FLAGS), demoWorld)
    if (!rehearse) out.write(`The shop answered ${shop.served()} requests.\n`)
    return code
  } finally {
    await shop.close()
  }
}
