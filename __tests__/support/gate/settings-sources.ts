import { expect } from '@jest/globals'
import type { SettingsSources } from '../../../src/gate/settings/inputs.js'
import type { InputName } from '../../../src/contract/inputs.js'
import { readSettings, type Settings } from '../../../src/gate/settings/settings.js'
import { SettingsError } from '../../../src/gate/errors.js'

/** Inputs by name; those that are absent are empty. */
export type Given = Partial<Record<InputName, string>>

export const SPECIFICATION =
  '[{region: us-east-1, instance_quantity: 2, instance_type: m4.large, infrastructure: demand, stop_after: 60}]'
export const REMOTE: Given = {
  'base-url': 'https://service.example',
  token: 'secret',
  files: 'plan.jmx',
  grids: SPECIFICATION
}
export const LOCAL: Given = { 'base-url': 'local', files: 'plan.jmx' }

type Changes = Partial<SettingsSources> & { configText?: string }

export function makeSources(given: Given, changes: Changes = {}): SettingsSources {
  const { configText, ...rest } = changes
  return {
    read: (name) => given[name] ?? '',
    readConfig: (path) =>
      configText === undefined
        ? Promise.reject(new Error(`ENOENT: no such file, open '${path}'`))
        : Promise.resolve(configText),
    resolveFiles: (lines) =>
      Promise.resolve({ paths: lines.map((line) => `/workspace/${line}`), problems: [] }),
    resolveResults: (lines) =>
      Promise.resolve({
        files: lines.map((line) => ({ path: `/workspace/${line}`, shown: line })),
        problems: []
      }),
    resolveBaseline: (path) => Promise.resolve({ path: `/workspace/${path}`, exists: false }),
    defaultName: 'octo/shop main 0123456',
    platform: 'linux',
    ...rest
  }
}

export async function readGiven(given: Given, changes: Changes = {}): Promise<Settings> {
  const settings = await readSettings(makeSources(given, changes))
  expect(settings).not.toHaveProperty('skip')
  return settings as Settings
}

export async function problemsOf(given: Given, changes: Changes = {}): Promise<readonly string[]> {
  const thrown: unknown = await readSettings(makeSources(given, changes)).catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(SettingsError)
  return (thrown as SettingsError).problems
}
