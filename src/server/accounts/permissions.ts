import { RequestError } from '../errors.js'
import type { UserReference } from '../store/records.js'
import type { User } from './users.js'

/** Viewers only read. */
export function requireMember(user: User): void {
  if (user.role === 'viewer')
    throw new RequestError(
      403,
      `${user.name} is a viewer and may only read; ask an admin for the role member`
    )
}

/** Whether to offer it at all. */
export function mayChange(user: User, { user: owner }: { readonly user?: UserReference }): boolean {
  return user.role === 'admin' || (user.role === 'member' && owner?.id === user.id)
}

/** Members change what is theirs, admins everything. What has no owner is from before there were users: it is the admins'. */
export function requireOwner(
  user: User,
  { user: owner }: { readonly user?: UserReference },
  what: string
): void {
  requireMember(user)
  if (mayChange(user, { ...(owner && { user: owner }) })) return
  const whose = owner === undefined ? 'an admin' : `${owner.name} or an admin`
  throw new RequestError(403, `${what} belongs to ${owner?.name ?? 'nobody'}; only ${whose} may do this`)
}
