interface ChannelMessage {
  /** Value of the `type` field; null for a message without one. */
  type: string | null
  fields: readonly string[]
}

interface Channel {
  path: `/v1/sessions/${string}`
  purpose: string
  requiredQuery: readonly string[]
  optionalQuery: readonly string[]
  clientMessages: readonly ChannelMessage[]
  serverMessages: readonly ChannelMessage[]
  /** Whether a server message is sent as an element of an array. */
  serverSendsArrays: boolean
}

const query = { requiredQuery: ['sessionId'], optionalQuery: ['token'] } as const

/** The WebSocket channels of a browser session. */
export const channels = [
  {
    path: '/v1/sessions/cast',
    purpose: 'frames of the screen, and its control',
    requiredQuery: ['sessionId'],
    optionalQuery: ['token', 'pageId', 'pageIndex'],
    clientMessages: [
      { type: 'mouseEvent', fields: ['event', 'x', 'y', 'button', 'deltaX', 'deltaY'] },
      { type: 'keyEvent', fields: ['event', 'key', 'code', 'modifiers'] },
      { type: 'navigation', fields: ['action', 'url'] },
      { type: 'closeTab', fields: ['pageId'] },
      { type: 'getSelectedText', fields: ['pageId'] },
    ],
    serverMessages: [
      { type: null, fields: ['pageId', 'url', 'title', 'favicon', 'data'] },
      { type: 'tabList', fields: ['tabs[].pageId', 'tabs[].url', 'tabs[].title', 'firstTabId'] },
      { type: 'tabClosed', fields: ['pageId'] },
      { type: 'selectedTextResponse', fields: ['pageId', 'text'] },
    ],
    serverSendsArrays: false,
  },
  {
    path: '/v1/sessions/logs',
    purpose: 'what pages write to their console',
    ...query,
    clientMessages: [],
    // `timestamp` counts milliseconds since the Unix epoch.
    serverMessages: [{ type: null, fields: ['pageId', 'level', 'text', 'timestamp'] }],
    serverSendsArrays: true,
  },
  {
    path: '/v1/sessions/pageId',
    purpose: 'which page is at the front',
    ...query,
    clientMessages: [],
    serverMessages: [{ type: null, fields: ['pageId'] }],
    serverSendsArrays: false,
  },
  {
    path: '/v1/sessions/recording',
    purpose: 'what happens on pages, as rrweb events',
    ...query,
    clientMessages: [],
    // rrweb's numeric `type` says which kind of event it is.
    serverMessages: [{ type: null, fields: ['type', 'data', 'timestamp'] }],
    serverSendsArrays: true,
  },
] as const satisfies readonly Channel[]

export type ChannelId = `GET ${(typeof channels)[number]['path']}`

/** The closed lists of values that input messages of the cast channel may carry. */
export const castInputValues = {
  'mouseEvent.event': ['mousePressed', 'mouseReleased', 'mouseMoved', 'mouseWheel'],
  'keyEvent.event': ['keyDown', 'keyUp', 'char'],
  'navigation.action': ['goto', 'back', 'forward', 'refresh'],
} as const

/** WebSocket close codes with a meaning of our own. */
export const closeCodes = { unknownSession: 4404, noAccess: 4403 } as const
