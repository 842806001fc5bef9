import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

export const CHART = 'examples/service/helm'

/** Helm as HELM names it, from the cache in which .ci/run builds it, or on the PATH. Where it is required, its absence is an error. */
export function findHelm(): string | undefined {
  const { HELM, XDG_CACHE_HOME = join(homedir(), '.cache'), PATH = '' } = process.env
  const places = [
    ...(HELM === undefined ? [] : [HELM]),
    join(XDG_CACHE_HOME, 'loadgate-helm/helm'),
    ...PATH.split(delimiter).map((folder) => join(folder, 'helm'))
  ]
  const found = places.find((place) => existsSync(place))
  if (found === undefined && process.env.LOADGATE_REQUIRE_KUBERNETES === '1')
    throw new Error('helm is missing: go install helm.sh/helm/v3/cmd/helm@v3.22.0, or name it in HELM')
  return found
}
