/** What a grid's specification must have. */
export const REQUIRED_GRID_KEYS = [
  'infrastructure',
  'region',
  'instance_quantity',
  'instance_type',
  'stop_after'
] as const

export type RequiredGridKey = (typeof REQUIRED_GRID_KEYS)[number]

export const INFRASTRUCTURES = ['demand', 'hosted'] as const

/** `stop_after` in minutes. */
export const MAX_STOP_AFTER_MIN = 2880

/** What it may have, as plain text; they mean something in a cloud only. */
export const OPTIONAL_GRID_TEXTS = [
  'aws_tags',
  'aws_availability_zone',
  'credential_id',
  'azure_tenant_id',
  'aws_arn',
  'aws_vpc_identifier',
  'aws_vpc_subnet_public',
  'aws_vpc_subnet_private',
  'aws_vpc_security_groups'
] as const

/** Everything it may have. */
export const OPTIONAL_GRID_KEYS: readonly string[] = [
  'aws_platform',
  'aws_spot_price',
  ...OPTIONAL_GRID_TEXTS
]
