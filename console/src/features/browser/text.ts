import { formatNumber } from '#console/i18n/format.ts'
import { defineText } from '#console/i18n/text.ts'

export const en = {
  sessions: 'Browser sessions',
  count: (count: number) => (count === 1 ? '1 session' : `${formatNumber(count)} sessions`),
  session: 'Session',
  status: 'State',
  states: {
    active: 'live',
    paused: 'paused',
    takeover: 'a person is needed',
    closed: 'ended',
    error: 'broke off',
  },
  size: 'Window',
  began: 'Began',
  used: 'Last used',
  none: 'No browser sessions yet',
  noneText:
    'The agent opens a browser when it needs a page. You can watch it, take it over, and replay it afterwards.',
  open: 'Open a browser',
  profile: 'Profile',
  profileHint: 'Keeps logins between sessions under this name: letters, digits, “_”, “.” and “-”.',
  record: 'Record it',
  recordHint: 'Then it can be replayed for 30 days. Passwords are masked.',
  back: 'All sessions',
  end: 'End session',
  endTitle: 'End this browser session?',
  endText: 'Its pages are closed, also if the agent is using them.',
  ended: 'The session has ended.',
  takeOver: 'Take over',
  takeOverReason: 'Taken over in the console',
  live: 'Live picture of the browser',
  replay: 'Replay of the session',
  control: 'The browser, which you control',
  asked: 'The agent waits for a person',
  askedBy: (who: string) => `${who} asked for a person`,
  agent: 'The agent',
  api: 'A program',
  until: 'The agent goes on',
  drives: (who: string) => `${who} is in control.`,
  keys: 'In the picture all keys go to the shown page. F6 leaves it.',
  ownTab: 'Open in a tab of its own',
  nothingRecorded: 'Nothing was recorded of this session',
  nothingRecordedText: 'Sessions that are opened with “Record it” can be replayed after their end.',
}

export const text = defineText(en, { de: () => import('./de.ts') })
