import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServiceOptions } from '../../../src/service/server.js'
import { createSurvivingPlaces, type SurvivingOptions } from '../../support/surviving-place.js'
import { writeJMeter, writeSample } from '../stand-in.js'

export interface WorldOptions {
  readonly regions?: string[]
  readonly offsetMs?: number
}

export interface World {
  readonly world: SurvivingOptions
  readonly home: string
  /** Lets the tools go on to their end. */
  readonly release: () => void
  /** How often a tool was started. */
  readonly starts: () => number
}

/** Nodes that outlive services, and a tool that writes a row, waits until it is released, and writes another one. */
export function createWorld(root: string, { regions = ['east', 'west'], ...rest }: WorldOptions = {}): World {
  const folder = join(root, 'nodes')
  mkdirSync(folder)
  const home = writeJMeter(join(root, 'jmeter'), [
    writeSample('before'),
    `echo start >> ${root}/starts`,
    // Or until the test has removed its folder.
    `while [ ! -e ${root}/release ] && [ -e ${root}/starts ]; do sleep 0.02; done`,
    writeSample('after')
  ])
  return {
    world: { folder, regions, ...rest },
    home,
    release: () => writeFileSync(join(root, 'release'), ''),
    starts: () =>
      existsSync(join(root, 'starts')) ? readFileSync(join(root, 'starts'), 'utf8').split('\n').length - 1 : 0
  }
}

export const optionsOf = ({ world, home }: World): Partial<ServiceOptions> => ({
  engine: 'real',
  places: createSurvivingPlaces(world),
  env: { ...process.env, JMETER_HOME: home }
})
