// The indexes of the columns that matter, -1 for those that a CSV does not have. The code that counts rows is compiled twice: for JMeter's
// default column order, where these are constants in the code, and for any other order.

let delimiter: i8 = 0
let columns: i32 = 0
let timeStamp: i32 = -1
let elapsed: i32 = -1
let label: i32 = -1
let responseMessage: i32 = -1
let success: i32 = -1
let allThreads: i32 = -1
let sampleCount: i32 = -1
let threadName: i32 = -1
let hostname: i32 = -1
let partOf: i32 = -1
let dataType: i32 = -1
let url: i32 = -1
let latency: i32 = -1
let idleTime: i32 = -1

export function setDialect(byte: i32, count: i32): void {
  delimiter = i8(byte)
  columns = count
}

export function setColumns(
  timeStampAt: i32,
  elapsedAt: i32,
  labelAt: i32,
  responseMessageAt: i32,
  successAt: i32,
  allThreadsAt: i32,
  sampleCountAt: i32
): void {
  timeStamp = timeStampAt
  elapsed = elapsedAt
  label = labelAt
  responseMessage = responseMessageAt
  success = successAt
  allThreads = allThreadsAt
  sampleCount = sampleCountAt
}

/** Rows that may have waited in a stall are asked for them, and all rows from the first transaction on. */
export function setThreadColumns(threadNameAt: i32, hostnameAt: i32): void {
  threadName = threadNameAt
  hostname = hostnameAt
}

/** Rows that have something there count for their own label only. */
export function setPartColumn(partOfAt: i32): void {
  partOf = partOfAt
}

/** Only transactions are asked for them. */
export function setTransactionColumns(dataTypeAt: i32, urlAt: i32, latencyAt: i32, idleTimeAt: i32): void {
  dataType = dataTypeAt
  url = urlAt
  latency = latencyAt
  idleTime = idleTimeAt
}

export function dataTypeColumn(): i32 {
  return dataType
}

export function urlColumn(): i32 {
  return url
}

export function latencyColumn(): i32 {
  return latency
}

export function idleTimeColumn(): i32 {
  return idleTime
}

export function partOfColumn(): i32 {
  return partOf
}

export function threadNameColumn(): i32 {
  return threadName
}

export function hostnameColumn(): i32 {
  return hostname
}

export function delimiterByte(): i8 {
  return delimiter
}

export function columnCount(): i32 {
  return columns
}

@unmanaged
export class AnyOrder {
  get timeStamp(): i32 {
    return timeStamp
  }
  get elapsed(): i32 {
    return elapsed
  }
  get label(): i32 {
    return label
  }
  get responseMessage(): i32 {
    return responseMessage
  }
  get success(): i32 {
    return success
  }
  get allThreads(): i32 {
    return allThreads
  }
  get sampleCount(): i32 {
    return sampleCount
  }
  /** Only the last column can end with a carriage return. */
  get last(): i32 {
    return columns - 1
  }
}

@unmanaged
export class JmeterOrder {
  get timeStamp(): i32 {
    return 0
  }
  get elapsed(): i32 {
    return 1
  }
  get label(): i32 {
    return 2
  }
  get responseMessage(): i32 {
    return 4
  }
  get success(): i32 {
    return 7
  }
  get allThreads(): i32 {
    return 12
  }
  get sampleCount(): i32 {
    return -1
  }
  /** Beyond all of these. */
  get last(): i32 {
    return 13
  }
}

export function isJmeterOrder(): bool {
  const usual = changetype<JmeterOrder>(0)
  return (
    timeStamp == usual.timeStamp &&
    elapsed == usual.elapsed &&
    label == usual.label &&
    responseMessage == usual.responseMessage &&
    success == usual.success &&
    allThreads == usual.allThreads &&
    sampleCount == usual.sampleCount &&
    columns > usual.last
  )
}
