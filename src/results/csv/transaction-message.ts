/** JMeter's response message for a transaction controller's own row; the number of its samples follows. */
export const TRANSACTION_MESSAGE = new TextEncoder().encode('Number of samples in transaction : ')
