import type { en } from './text.ts'

export default {
  names: { telegram: 'Telegram', whatsapp: 'WhatsApp', mail: 'E-Mail' },
  answered: 'Wer Antwort bekommt',
  answeredText: 'Wer dem Agenten auf Telegram und WhatsApp schreiben darf.',
  senders: {
    contacts: 'Die Kontakte des Agenten. Von anderen bleibt nichts.',
    everyone: 'Alle: Fremde werden zu Kontakten.',
  },
  sends: 'sendet',
  isOff: 'nicht eingerichtet',
  receives: 'empfängt',
  mayReceive: 'zum Empfang eingerichtet',
  noAnswer: 'Telegram antwortet nicht',
  receivesNothing: 'empfängt noch nichts',
  isSet: 'Es ist gesetzt. Leer lassen, um es zu behalten.',
  fields: {
    channel_senders: 'Antworten an',
    telegram_bot_token: 'Token des Bots',
    whatsapp_access_token: 'Zugriffstoken',
    whatsapp_phone_number_id: 'Kennung der Telefonnummer',
    whatsapp_app_secret: 'App-Geheimnis',
    whatsapp_verify_token: 'Prüftoken',
    smtp_url: 'Mailserver',
    mail_from: 'Absender',
  },
  hints: {
    telegram_bot_token: 'Etwa 123456:ABC-DEF.',
    whatsapp_verify_token: 'Ein Text Ihrer Wahl, den Sie auch in der App eintragen.',
    smtp_url: 'Etwa smtps://user:password@mail.example.com:465, Name und Passwort prozentkodiert.',
  },
  telegram: {
    bot: 'In Telegram /newbot an @BotFather schreiben und dem Bot einen Namen geben.',
    token: 'Den Token eintragen, mit dem BotFather antwortet.',
    connect:
      'Den Bot verbinden, damit Telegram Nachrichten hierher liefert. Der Dienst braucht eine https-Adresse (BASE_URL).',
  },
  whatsapp: {
    app: 'In Metas Entwicklerkonsole eine App mit WhatsApp anlegen und eine Nummer wählen.',
    secrets: 'Eintragen, was die App zeigt. Der Zugriffstoken eines Systembenutzers läuft nicht ab.',
    address:
      'In der App unter „Webhooks“ diese Adresse und das Prüftoken eintragen und „messages“ abonnieren.',
  },
  mail: {
    server: 'Den Server eintragen, der die E-Mails des Agenten sendet.',
    ofPlatform: 'Der Mailserver des Betreibers gilt. Mit einem eigenen hat der Agent einen eigenen Absender.',
  },
  callback: 'Callback-Adresse',
  needsHttps:
    'WhatsApp liefert nur an https-Adressen: die Konsole unter der öffentlichen Adresse des Dienstes öffnen und sie dort kopieren.',
  connect: 'Verbinden',
  connected: url => `Telegram liefert an ${url}`,
  test: 'Testnachricht senden',
  to: 'An',
  send: 'Senden',
  addresses: {
    mail: 'Eine E-Mail-Adresse.',
    telegram:
      'Die Kennung eines Chats, in dem die Person dem Bot geschrieben hat: Ein Bot kann nicht zuerst schreiben.',
    whatsapp: 'Eine Nummer mit Landesvorwahl. Die Person muss in den letzten 24 Stunden geschrieben haben.',
  },
  tested: 'Die Nachricht ist gesendet.',
} satisfies typeof en
