import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { type Answer, buildApp, type TestApp } from '#test/support/build-app.ts'
import { formOf } from '#test/support/upload.ts'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'owner@example.com' } })
})

afterAll(() => app.close())

async function agentOf(phone_country?: string) {
  const path = `/api/agents/${await makeAgent(app)}`
  if (phone_country !== undefined) await app.call('PUT', `${path}/settings`, { body: { phone_country } })
  const call = (method: 'GET' | 'POST' | 'PUT', below: string, body?: unknown): Promise<Answer> =>
    app.call(method, `${path}/contacts${below}`, body === undefined ? {} : { body })
  return {
    call,
    add: async (fields: object) => ((await call('POST', '', fields)).body as { id: string }).id,
    /** The id of the contact that the identifier names. */
    async find(field: string, value: string): Promise<string | number> {
      const { status, body } = await call('GET', `/resolve?${new URLSearchParams({ [field]: value })}`)
      return status === 200 ? (body as { contact: { id: string } }).contact.id : status
    },
    get: async (id: string) => (await call('GET', `/${id}`)).body as Record<string, unknown>,
    async importFile(content: string | Buffer) {
      const file = new File([typeof content === 'string' ? content : new Uint8Array(content)], 'people.csv')
      const answer = await app.call('POST', `${path}/contacts/import`, await formOf([['file', file]]))
      const list = await call('GET', '?limit=1000&sort=name')
      return { ...answer, all: (list.body as { contacts: Record<string, unknown>[] }).contacts }
    },
  }
}

type Spelling = readonly [stored: string, as: string, shown?: string]

/** By the country of the settings. Each row is a person, found in both directions. */
const spellings: Record<string, readonly Spelling[]> = {
  none: [
    ['+49 (0)89 636 48018', '+498963648018', '+498963648018'],
    ['0049 (0)40 226 31 00', '49 40 2263100', '+49402263100'],
    ['49 (0)221 97 31 33', '+49221973133', '+49221973133'],
    ['+44 (0)20 8743 8000', '442087438000', '+442087438000'],
    ['(+44) 1632 960 001', '+441632960001', '+441632960001'],
    ['+43 (0)1 534 04', '+43153404'],
    ['+41 (0)44 668 18 00', '41446681800'],
    ['+33 (0)1 42 68 53 00', '0033142685300'],
    ['+31 (0)20 794 0800', '+31 20 7940800'],
    ['+36 (06) 1 234 5678', '+3612345678'],
    ['+7 (8) 495 123-45-67', '74951234567'],
    ['+49 0711 93 30 77', '+49711933077'],
    ['+39 02 3858 1234', '390238581234', '+39 02 3858 1234'],
    ['+39 (0)55 2776 1234', '+3905527761234'],
    ['011 49 69 7561 2345', '+496975612345', '+496975612345'],
    ['tel:+1-201-555-0123', '12015550123', '+1-201-555-0123'],
    ['tel:65-64-12;phone-context=+49-30-9', '+493096564 12'],
    ['tel:+49-30-4020-5;isub=1', '493040205'],
    ['whatsapp:+6281234567890', '6281234567890', '+6281234567890'],
    ['https://wa.me/919876543210', '+91 98765 43210'],
    ['971501234567@s.whatsapp.net', '+971 50 123 4567'],
    ['Tel.: +49 351 4910 101', '+493514910101'],
    ['Mobil: +49 160 90123456', '4916090123456'],
    ['＋４９　７６１　２０１－３０５５', '+497612013055', '+49 761 201-3055'],
    ['+٩٦٦ ٥٠ ١٢٣ ٤٥٦٧', '966501234567', '+966 50 123 4567'],
    ['+۹۸ ۹۱۲ ۳۴۵ ۶۷۸۹', '+989123456789'],
    ['+९१ ९१२३४ ५६७८९', '919123456789'],
    ['\u202a+49 172 5550111\u202c', '491725550111', '+49 172 5550111'],
    ['\u2066+49\u00a0173\u202f5550112\u2069', '+491735550112', '+49 173 5550112'],
    ['\ufeff+49\u200b174\u00ad5550113\u200e', '491745550113'],
    ['+49 175\u20115550\u2212114', '+491755550114', '+49 175-5550-114'],
    ["'+49 176 5550115", '+491765550115'],
    ['+49_177·5550116', '+491775550116'],
    ['491785550117.0', '+491785550117', '491785550117'],
    ['+54 9 351 234-5678', '543512345678'],
    ['+54 221 456-7890', '5492214567890'],
    ['+54 11 15 3456-7890', '5491134567890'],
    ['+55 31 98765-4321', '553187654321'],
    ['+55 85 8765-4321', '5585987654321'],
    ['+52 1 33 1234 5678', '523312345678'],
    ['+52 55 8765 4321', '5215587654321'],
    ['0151 2345', '01512345', '0151 2345'],
    ['+48 (0) 601 234 567', '48601234567', '+48601234567'],
    ['+351 0912 345 678', '+351912345678', '+351912345678'],
    ['+34 (0)612 34 56 78', '0034 612345678', '+34612345678'],
    ["+41 79 555'01'23", '+41795550123'],
    ['+49 30 5550199;', '+49 30 5550199'],
  ],
  AU: [['0011 44 20 7946 0019', '+442079460019', '+442079460019']],
  PL: [
    ['0 601 234 568', '601 234 568', '+48601234568'],
    ['0048 601 234 569', '601234569', '+48601234569'],
  ],
  DE: [
    ['089 / 123 456 78', '+49 89 12345678', '+498912345678'],
    ['(0)40 555 12 34', '0049 40 5551234'],
    ['49 (0)30 2093 0', '030 20930'],
    ['+49 (0)171 555 01 23', '0171 5550123'],
    ['０３０　９０２９５', '+493090295'],
    ['00 44 20 7946 0018', '+442079460018'],
    ['447700900124', '+44 7700 900124', '447700900124'],
    ['176 5550 1234', '0176 55501234', '+4917655501234'],
    ['+5491123456780', '54 11 2345 6780'],
  ],
  US: [
    ['(201) 555-0199', '+12015550199', '+12015550199'],
    ['1-201-555-0188', '2015550188'],
    ['011 49 30 227 0', '+49302270'],
  ],
  GB: [['07700 900123', '+44 (0)7700 900123', '+447700900123']],
  MX: [
    ['044 55 1234 5678', '5215512345678', '+525512345678'],
    ['01 33 1234 5678', '+52 33 1234 5678'],
  ],
  AR: [['011 15-2345-6789', '5491123456789']],
  JP: [
    ['010 82 2 312 3456', '+8223123456'],
    ['090ー1234ー5678', '+81 90 1234 5678', '+819012345678'],
  ],
}

describe('a phone number', () => {
  it.each(Object.entries(spellings))(
    'names the same person in all spellings, where the country is %s',
    async (country, rows) => {
      const { add, find, get } = await agentOf(country === 'none' ? undefined : country)
      for (const [stored, as, shown] of rows) {
        const id = await add({ name: stored, phone: stored })
        const found = { stored, as: await find('phone', as), same: await find('phone', stored) }
        expect(found).toEqual({ stored, as: id, same: id })
        const { phone } = await get(id)
        if (shown !== undefined) expect({ stored, phone }).toEqual({ stored, phone: shown })
      }
      const other = await agentOf(country === 'none' ? undefined : country)
      for (const [stored, as] of rows) {
        const id = await other.add({ name: stored, phone: as })
        expect({ as, stored: await other.find('phone', stored) }).toEqual({ as, stored: id })
        expect((await other.call('POST', '', { name: 'Again', phone: stored })).status).toBe(409)
      }
    },
  )

  it('keeps its extension apart', async () => {
    const { add, find, get } = await agentOf()
    const main = '+49 30 2639'
    const endings = [
      ...[
        ' ext. 12',
        ' x13',
        ' #14',
        ' Durchwahl 15',
        ';ext=16',
        '/Durchwahl 17',
        ', 18',
        ' (ext 19)',
        ' poste 20',
      ],
      ...[' Ext: 21', ' extension 22', ' Nebenstelle 23', 'x24', ' int. 25', ' ramal 26'],
    ]
    const ids = []
    for (const ending of endings) ids.push(await add({ name: ending, phone: main + ending }))
    for (const [at, ending] of endings.entries()) {
      expect({ ending, id: await find('phone', `+49302639 ext. ${12 + at}`) }).toEqual({
        ending,
        id: ids[at],
      })
      expect(await get(ids[at] ?? '')).toMatchObject({ phone: `${main} ext. ${12 + at}` })
    }
    // Several people have this number.
    expect(await find('phone', main)).toBe(404)
    const one = await add({ name: 'One', phone: 'tel:+44-20-7946-0000;ext=7' })
    expect(await find('phone', '+44 20 7946 0000')).toBe(one)
    expect(await find('phone', '+44 20 7946 0000 ext 8')).toBe(404)
    const company = await add({ name: 'Company', phone: '+49 40 35090' })
    expect(await find('phone', '+49 40 35090 x5')).toBe(company)
  })

  it.each([
    'abc',
    '#ERROR!',
    '#N/A',
    '4.9E+12',
    '4,91715E+11',
    '491715E5',
    'n/a',
    '-',
    '0',
    '12',
    '2031-02-28',
    '+49 30 1 +49 30 2',
    '0171 5550103 / 0171 5550104',
    '+49 30 5550101, 0171 5550103',
    '1'.repeat(21),
  ])('is refused where it is none: %s', async text => {
    const { call, find } = await agentOf()
    for (const field of ['phone', 'messenger_number']) {
      const refusal = {
        status: 400,
        body: { error: { details: { field, issue: expect.stringContaining('write one') } } },
      }
      expect(await call('POST', '', { name: 'x', [field]: text })).toMatchObject(refusal)
      expect(await find(field, text)).toBe(400)
    }
  })
})

describe('an address', () => {
  it.each([
    ['email', '\u200banna@example.com\u202c', 'ANNA@example.com'],
    ['email', '\u202aanna@exam\u00adple.com', 'anna@example.com'],
    ['email', 'mailto:otto@example.com', 'otto@example.com'],
    ['messenger_handle', '\u2068@Anna\u2069', 'anna'],
    ['messenger_handle', '@an\u200dna', '@anna'],
    ['social_handle', 'anna\u2060', 'Anna'],
    ['messenger_number', '\u200e+54 11 4567-8901', '5491145678901'],
    ['messenger_number', '5217712345678', '+52 771 234 5678'],
    ['messenger_number', '556187654321', '+5561987654321'],
  ])('loses what nobody sees: %s', async (field, stored, as) => {
    const { add, find, get } = await agentOf()
    const id = await add({ name: 'x', [field]: stored })
    expect([await find(field, as), await find(field, stored)]).toEqual([id, id])
    expect(String((await get(id))[field])).not.toMatch(/\p{Default_Ignorable_Code_Point}/u)
  })

  it('is asked for alone', async () => {
    const { call } = await agentOf()
    for (const query of [
      '',
      '?email=a@example.com&phone=%2B4930123456',
      '?phone=%2B4930123456&messenger_handle=a',
    ])
      expect((await call('GET', `/resolve${query}`)).status).toBe(400)
  })

  it('of a contact that was merged leads to the other one, also after a second merge', async () => {
    const { call, add, find, importFile } = await agentOf()
    const person = (n: number) => ({
      name: `Ada ${n}`,
      email: `ada${n}@example.com`,
      phone: `+54 11 2345-678${n}`,
      messenger_handle: `@ada${n}`,
      social_handle: `ada.${n}`,
      messenger_number: `+4917055501${n}0`,
      external_id: `crm-${n}`,
    })
    const [one, two, three] = [await add(person(1)), await add(person(2)), await add(person(3))]
    await call('POST', `/${two}/merge`, { from: three })
    await call('POST', `/${one}/merge`, { from: two })
    for (const n of [1, 2, 3])
      for (const [field, value] of Object.entries({ ...person(n), phone: `5491123456 78${n}` }))
        if (field !== 'name') expect({ field, id: await find(field, value) }).toEqual({ field, id: one })
    expect(await call('POST', '', { name: 'x', email: 'ADA3@example.com' })).toMatchObject({
      status: 409,
      body: { error: { details: { contact_id: one } } },
    })
    const { body, all } = await importFile('email,phone,tags\nada3@example.com,,a\n,+54 9 11 23456782,b\n')
    expect(body).toMatchObject({ imported: 0, updated: 2 })
    expect(all).toMatchObject([{ ...person(1), tags: ['a', 'b'] }])
    await call('PUT', `/${one}`, { metadata: {} })
    expect(await find('email', 'ada3@example.com')).toBe(404)
  })
})

describe('an import', () => {
  const name = 'Anna Muster'
  const full = { name, email: 'a@example.com', phone: '+49 171 5550105', notes: 'Hallo' }
  const values: Record<string, string> = {
    first: 'Anna',
    last: 'Muster',
    full: name,
    email: full.email,
    mobile: full.phone,
    notes: full.notes,
    work: '+49 30 5550106',
    home: '+49 30 5550107',
    other: 'x',
  }

  it.each([
    [
      'Outlook',
      'First Name=first,Last Name=last,Company=other,Business Phone=work,Home Phone=home,Mobile Phone=mobile,Birthday=other,E-mail Address=email,E-mail Type=other,Notes=notes',
    ],
    [
      'Outlook',
      'Vorname=first,Nachname=last,Firma=other,Telefon geschäftlich=work,Telefon privat=home,Mobiltelefon=mobile,Fax privat=other,Geburtstag=other,E-Mail-Adresse=email,E-Mail: Angezeigter Name=other,Notizen=notes',
    ],
    [
      'Outlook',
      'Prénom=first,Nom=last,Société=other,Téléphone (bureau)=work,Téléphone (domicile)=home,Tél. mobile=mobile,Anniversaire=other,Adresse de messagerie=email,Notes=notes',
    ],
    [
      'Outlook',
      'Nombre=first,Apellidos=last,Organización=other,Teléfono del trabajo=work,Teléfono particular=home,Móvil=mobile,Cumpleaños=other,Dirección de correo electrónico=email,Notas=notes',
    ],
    [
      'Google',
      'First Name=first,Last Name=last,Notes=notes,E-mail 1 - Label=other,E-mail 1 - Value=email,Phone 1 - Label=other,Phone 1 - Value=mobile,Phone 2 - Value=work',
    ],
    [
      'Google',
      'Vorname=first,Nachname=last,Notizen=notes,E-Mail 1 – Label=other,E-Mail 1 – Wert=email,Telefon 1 – Wert=mobile,Telefon 2 – Wert=work',
    ],
    [
      'Google',
      'Prénom=first,Nom de famille=last,Notes=notes,E-mail 1 - Valeur=email,Téléphone 1 - Libellé=other,Téléphone 1 - Valeur=mobile,Téléphone 2 - Valeur=work',
    ],
    [
      'Google',
      'Nombre=first,Apellidos=last,Notas=notes,Correo electrónico 1 - Valor=email,Teléfono 1 - Etiqueta=other,Teléfono 1 - Valor=mobile,Teléfono 2 - Valor=work',
    ],
    [
      'Thunderbird',
      'First Name=first,Last Name=last,Display Name=full,Primary Email=email,Work Phone=work,Mobile Number=mobile,Fax Number=other,Notes=notes',
    ],
    [
      'Thunderbird',
      'Vorname=first,Nachname=last,Anzeigename=full,Primäre E-Mail-Adresse=email,Tel. dienstlich=work,Tel. privat=home,Mobil-Tel.-Nr.=mobile,Notizen=notes',
    ],
    [
      'Thunderbird',
      'Prénom=first,Nom de famille=last,Nom à afficher=full,Première adresse électronique=email,Téléphone professionnel=work,Portable=mobile,Notes=notes',
    ],
    [
      'Thunderbird',
      'Nombre=first,Apellidos=last,Nombre a mostrar=full,Correo electrónico primario=email,Teléfono del trabajo=work,Número de móvil=mobile,Notas=notes',
    ],
    [
      'Apple',
      'First name=first,Last name=last,Display name=full,E-mail address=email,Home phone=home,Mobile phone=mobile,Note=notes',
    ],
    [
      'Apple',
      'Vorname=first,Name=last,E-Mail (Arbeit)=email,Telefon (Mobil)=mobile,Haupttelefon=work,Notiz=notes',
    ],
    [
      'Apple',
      'Prénom=first,Nom=last,E-mail (travail)=email,Téléphone (portable)=mobile,Téléphone principal=work,Note=notes',
    ],
    [
      'Apple',
      'Nombre=first,Apellidos=last,Correo (trabajo)=email,Teléfono (celular)=mobile,Teléfono principal=work,Nota=notes',
    ],
  ])('reads the headers of %s: %s', async (_program, columns) => {
    const { importFile } = await agentOf()
    const pairs = columns.split(',').map(column => column.split('='))
    const cells = pairs.map(([, value = '']) => values[value])
    const { all } = await importFile(`${pairs.map(([header]) => header).join(';')}\n${cells.join(';')}\n`)
    expect(all).toMatchObject([full])
    for (const [header = '', value = ''] of pairs)
      if (['work', 'home', 'other'].includes(value))
        expect(all[0]?.metadata).toMatchObject({ [header]: values[value] })
  })

  it.each<[kind: string, file: string | Buffer, contacts: object[]]>([
    [
      'sep=;',
      'sep=;\r\nName;E-Mail\r\nJürgen, Dr.;j@example.com\r\n',
      [{ name: 'Jürgen, Dr.', email: 'j@example.com' }],
    ],
    [
      'sep=| in quotes',
      '\ufeff"sep=|"\nName|Email\nA;B|a@example.com\n',
      [{ name: 'A;B', email: 'a@example.com' }],
    ],
    [
      'sep= with a tab',
      'SEP=\t\rname\temail\rA,B\ta@example.com\r',
      [{ name: 'A,B', email: 'a@example.com' }],
    ],
    [
      'equal headers',
      'Name,Email,Email,Tel,Tel,Tel,Note,Note,X,X\nA,a@example.com,b@example.com,+49 30 1,+49 30 2,+49 30 3,1,2,3,3\n',
      [
        {
          email: 'a@example.com',
          phone: '+49 30 1',
          notes: '1',
          metadata: { Email: 'b@example.com', Tel: ['+49 30 2', '+49 30 3'], Note: '2', X: '3' },
        },
      ],
    ],
    [
      'lists in cells',
      'Name,Phone 1 - Value,E-mail 1 - Value\nA,+49 30 5550104 ::: +49 30 5550105:::+49 30 5550106,a@example.com ::: b@example.com\n',
      [
        {
          phone: '+49 30 5550104',
          email: 'a@example.com',
          metadata: {
            'Phone 1 - Value': ['+49 30 5550105', '+49 30 5550106'],
            'E-mail 1 - Value': 'b@example.com',
          },
        },
      ],
    ],
    [
      'several numbers in a cell',
      'Name,Mobile Phone,Home Phone\nA,0171 5550103 / +49 172 5550104;0173 5550105,030 / 555 01 06 #7\n',
      [
        {
          phone: '0171 5550103',
          metadata: {
            'Mobile Phone': ['+49 172 5550104', '0173 5550105'],
            'Home Phone': '030 / 555 01 06 #7',
          },
        },
      ],
    ],
    [
      'columns that metadata has, too',
      'name,plan,size,metadata\nA,silver,L,"{""plan"":""gold"",""size"":""L""}"\n',
      [{ metadata: { plan: ['silver', 'gold'], size: 'L' } }],
    ],
    [
      'numbers that are none',
      'Name,Phone,Mobile Phone,Notes\nA,4.91716E+12,+49 171 5550103,b\nB,#ERROR!,,\n',
      [
        { phone: '+49 171 5550103', notes: 'b\nPhone: 4.91716E+12' },
        { phone: null, notes: 'Phone: #ERROR!' },
      ],
    ],
    ['texts of tables', 'Name,Phone\nA,"=""0049 30 5550108"""\n', [{ phone: '+49305550108' }]],
    [
      'a full name beside its parts',
      'Name,First Name,Last Name\nDr. Ada King,Ada,Lovelace\n',
      [{ name: 'Dr. Ada King', metadata: { 'Last Name': 'Lovelace' } }],
    ],
    [
      'UTF-16 with a mark',
      Buffer.from('\ufeffName\tE-Mail\nJürgen\tj@example.com', 'utf16le').swap16(),
      [{ name: 'Jürgen', email: 'j@example.com' }],
    ],
    [
      'UTF-16 without',
      Buffer.from('Name;E-Mail\nЮрий;j@example.com', 'utf16le').swap16(),
      [{ name: 'Юрий', email: 'j@example.com' }],
    ],
    [
      'UTF-16 without, little end',
      Buffer.from('Name;E-Mail\nЮрий;j@example.com', 'utf16le'),
      [{ name: 'Юрий', email: 'j@example.com' }],
    ],
  ])('reads %s', async (_kind, file, contacts) => {
    const { importFile } = await agentOf()
    expect((await importFile(file)).all.slice(0, contacts.length)).toMatchObject(contacts)
  })

  it('names the line of the file, also behind sep=', async () => {
    const { importFile } = await agentOf()
    const { body } = await importFile('sep=;\nname;email\nA;a@example.com\nB;nobody\n')
    expect(body).toMatchObject({ errors: [{ line: 4, field: 'email' }] })
  })

  it('finds the same person by all spellings, and adds to notes once', async () => {
    const { add, importFile } = await agentOf()
    await add({ name: 'Ana', phone: '+54 11 4567-8902', notes: 'kept' })
    const file =
      'Name,Phone,Mobile,Email\nAna,+54 9 11 4567 8902,#REF!,\u202aana@example.com\nEva,+49 (0)30 5550101,,\nEva,+4930 5550101,,\n'
    expect((await importFile(file)).body).toMatchObject({ imported: 1, updated: 1, skipped: 1 })
    const { body, all } = await importFile(file)
    expect(body).toMatchObject({ imported: 0, updated: 2, skipped: 1 })
    expect(all).toMatchObject([
      { name: 'Ana', notes: 'kept\nMobile: #REF!', email: 'ana@example.com' },
      { name: 'Eva' },
    ])
  })
})
