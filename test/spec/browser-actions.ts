interface BrowserAction {
  name: string
  /** Fields beside `action`; each action also takes `timeout`, in milliseconds. */
  fields: readonly string[]
  /** Keys of `result`, where the action has one. */
  result?: readonly string[]
}

export const browserActions = [
  { name: 'navigate', fields: ['url'] },
  { name: 'click', fields: ['selector'] },
  { name: 'type', fields: ['selector', 'text'] },
  { name: 'press', fields: ['key'] },
  { name: 'screenshot', fields: ['full_page'], result: ['image'] },
  { name: 'extract', fields: ['selector', 'attribute'], result: ['value'] },
  { name: 'scroll', fields: ['direction', 'amount'] },
  { name: 'wait', fields: ['selector', 'state'] },
  { name: 'hover', fields: ['selector'] },
  { name: 'select', fields: ['selector', 'value', 'values'] },
  { name: 'upload', fields: ['selector', 'files[].name', 'files[].mime_type', 'files[].data'] },
  { name: 'evaluate', fields: ['expression'], result: ['value'] },
] as const satisfies readonly BrowserAction[]
