interface NodeType {
  name: string
  /** Keys of `data` that are known from the specification. */
  data: readonly string[]
}

/** What a workflow is made of; the last two send a message, one for each chat channel. */
export const nodeTypes = [
  { name: 'trigger', data: ['event'] },
  { name: 'if-else', data: [] },
  { name: 'switch', data: [] },
  { name: 'loop', data: [] },
  { name: 'wait', data: [] },
  { name: 'http-request', data: [] },
  { name: 'email', data: ['to', 'subject', 'body'] },
  { name: 'navigate', data: [] },
  { name: 'click', data: [] },
  { name: 'chat', data: [] },
  { name: 'code', data: [] },
  { name: 'telegram', data: [] },
  { name: 'whatsapp', data: [] },
] as const satisfies readonly NodeType[]
