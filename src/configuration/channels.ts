import { mailbox } from '#platform/email-address.ts'
import { smtpUrl } from '#platform/smtp-url.ts'
import { group, optional, webAddress } from './variables.ts'

/** Settings for outgoing mail and messages. */
export const channels = group({
  variables: {
    SMTP_URL: optional('an address such as smtps://user:password@mail.example.com', {
      secret: true,
      check: value => smtpUrl.test(value),
    }),
    MAIL_FROM: optional('an e-mail address, alone or as Name <address>', {
      check: value => mailbox.test(value),
    }),
    TELEGRAM_API_BASE: webAddress(),
    WHATSAPP_API_BASE: webAddress(),
  },
  problems: ({ SMTP_URL, MAIL_FROM }) =>
    (SMTP_URL === undefined) === (MAIL_FROM === undefined)
      ? []
      : ['SMTP_URL and MAIL_FROM must be set together.'],
  read: ({ SMTP_URL: url, MAIL_FROM: from, ...environment }) => ({
    channels: {
      /** Undefined if only agents with a mail server of their own send mail. */
      mail: url && from ? { url, from } : undefined,
      telegramBase: withoutSlash(environment.TELEGRAM_API_BASE ?? 'https://api.telegram.org'),
      whatsappBase: withoutSlash(environment.WHATSAPP_API_BASE ?? 'https://graph.facebook.com/v23.0'),
    },
  }),
})

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, '')
}
