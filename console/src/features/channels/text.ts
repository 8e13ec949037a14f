import { defineText } from '#console/i18n/text.ts'

export const en = {
  names: { telegram: 'Telegram', whatsapp: 'WhatsApp', mail: 'Mail' },
  answered: 'Who is answered',
  answeredText: 'Who may write to the agent on Telegram and WhatsApp.',
  senders: {
    contacts: 'The contacts of the agent. Nothing of others is kept.',
    everyone: 'Everyone: a stranger becomes a contact.',
  },
  sends: 'sends',
  isOff: 'not set up',
  receives: 'receives',
  mayReceive: 'set up to receive',
  noAnswer: 'Telegram does not answer',
  receivesNothing: 'receives nothing yet',
  isSet: 'It is set. Leave this empty to keep it.',
  fields: {
    channel_senders: 'Answer',
    telegram_bot_token: 'Bot token',
    whatsapp_access_token: 'Access token',
    whatsapp_phone_number_id: 'Phone number id',
    whatsapp_app_secret: 'App secret',
    whatsapp_verify_token: 'Verify token',
    smtp_url: 'Mail server',
    mail_from: 'Sender',
  },
  hints: {
    telegram_bot_token: 'Such as 123456:ABC-DEF.',
    whatsapp_verify_token: 'A text of your choice, which you enter in the app, too.',
    smtp_url: 'Such as smtps://user:password@mail.example.com:465, with user and password percent-encoded.',
  } as Partial<Record<string, string>>,
  telegram: {
    bot: 'Write /newbot to @BotFather in Telegram, and give the bot a name.',
    token: 'Enter the token that BotFather answers with.',
    connect:
      'Connect the bot, so that Telegram delivers messages here. The service needs an https address (BASE_URL).',
  },
  whatsapp: {
    app: 'In Meta’s developer console, create an app with WhatsApp and choose a phone number.',
    secrets:
      'Enter what the app shows. The access token should be one of a system user, which does not expire.',
    address:
      'Under “Webhooks” in the app, enter this address and the verify token, and subscribe to “messages”.',
  },
  mail: {
    server: 'Enter the server that sends the agent’s mail.',
    ofPlatform: 'The operator’s mail server is used. With one of its own the agent has a sender of its own.',
  },
  callback: 'Callback address',
  needsHttps:
    'WhatsApp delivers to https addresses only: open the console by the public address of the service, and copy it from there.',
  connect: 'Connect',
  connected: (url: string) => `Telegram delivers to ${url}`,
  test: 'Send a test message',
  to: 'To',
  send: 'Send',
  addresses: {
    mail: 'An e-mail address.',
    telegram: 'The id of a chat in which the person has written to the bot: a bot can’t write first.',
    whatsapp: 'A number with its country code. The person must have written within the last 24 hours.',
  },
  tested: 'The message was sent.',
}

export const text = defineText(en, { de: () => import('./de.ts') })
