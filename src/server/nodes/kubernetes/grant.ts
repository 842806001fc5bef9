/** One kind of object, and what is done with it. */
export interface Rule {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
}

/** Everything that is asked of a cluster. From Kubernetes 1.35 on, exec needs both of its verbs. */
export const RULES: readonly Rule[] = [
  { group: 'batch', resource: 'jobs', verbs: ['create', 'get', 'list', 'watch', 'delete'] },
  { group: '', resource: 'pods', verbs: ['get', 'list', 'watch'] },
  { group: '', resource: 'pods/exec', verbs: ['get', 'create'] },
  { group: '', resource: 'pods/log', verbs: ['get'] },
  { group: '', resource: 'events', verbs: ['list', 'watch'] }
]

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/

/** The manifest that grants everything in a namespace to a user, as the cluster calls it; by default to a service account `loadgate`. */
export function grantManifest(
  namespace: string,
  user = `system:serviceaccount:${namespace}:loadgate`
): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: loadgate
  namespace: ${quote(namespace)}
rules:
${RULES.map(ruleLines).join('\n')}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: loadgate
  namespace: ${quote(namespace)}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: loadgate
subjects:
${subjectLines(user)}
`
}

function ruleLines({ group, resource, verbs }: Rule): string {
  return `  - apiGroups: ['${group}']
    resources: ['${resource}']
    verbs: [${verbs.map((verb) => `'${verb}'`).join(', ')}]`
}

function subjectLines(user: string): string {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(user) ?? []
  if (namespace === undefined || name === undefined)
    return `  - apiGroup: rbac.authorization.k8s.io
    kind: User
    name: ${quote(user)}`
  return `  - kind: ServiceAccount
    name: ${quote(name)}
    namespace: ${quote(namespace)}`
}

/** Only where YAML needs it; what JSON writes is valid there. */
function quote(text: string): string {
  return /^[a-z][a-z\d-]*$/.test(text) && !/^(null|true|false|yes|no|on|off|y|n)$/.test(text)
    ? text
    : JSON.stringify(text)
}
