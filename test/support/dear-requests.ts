/**
 * Requests that are expensive on purpose. Each address that accepts a body gets the largest one, in a form that is slow for one step.
 * Addresses without a body get the longest query. The largest honest requests are here too.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { BODY_MAX_BYTES, dearDocuments, filled } from './dear-documents.ts';
import { ABRASF, consultaXml, envelope, escaped, loteXml } from './rps.ts';
import { type Party, signedBy } from './signatures.ts';
import { signedLot } from './signed-lots.ts';

export type DearRequest = {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** The path, with the municipality. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** The request may come from an honest sender; the others are attacks. */
  readonly isHonest: boolean;
  /**
   * The answer is written in slices, and other requests are answered between them. The limit applies to the wait for a slice, not to the
   * whole.
   */
  readonly isSliced?: true;
};

/** The senders: a provider that the municipality in production knows, and a party without a certificate. */
export type Senders = {
  /** A municipality in production, one that accepts signatures of 2008, and the shared sandbox. */
  readonly producao: string;
  readonly antigo: string;
  readonly integracao: string;
  readonly provider: Party;
  readonly stranger: Party;
  readonly cnpj: string;
  /** The header value that signs a body as CMS. */
  readonly cms: (body: Buffer, by: Party) => string;
  /** A moment at which an RPS can be issued, and its day. */
  readonly emissao: string;
};

const XML = { 'Content-Type': 'application/xml' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const SOAP = { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: '""' };
const corpo = readFileSync(path.resolve(import.meta.dirname, '../../examples/dps.json'), 'utf8');

export function dearRequests(senders: Senders): readonly DearRequest[] {
  return [...ofXml(senders), ...ofJson(senders), ...dearSoap(senders), ...questions(senders)];
}

function post(
  name: string,
  where: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>>,
  isHonest = false,
): DearRequest {
  return { name, method: 'POST', path: where, headers, body: Buffer.from(body as string), isHonest };
}

/** As many copies as fit into a body. */
function copies(unit: string | ((number: number) => string), length: number, max = BODY_MAX_BYTES): string {
  const units: string[] = [];
  for (let size = length; ; ) {
    const one = typeof unit === 'string' ? unit : unit(units.length);
    size += Buffer.byteLength(one);
    if (size > max) return units.join('');
    units.push(one);
  }
}

const FORNEC =
  '<fornec><CNPJ>11222333000181</CNPJ><xNome>Fornecedor</xNome><end><endNac><cMun>3550308</cMun><CEP>01001000</CEP></endNac><xLgr>Rua</xLgr><nro>1</nro><xBairro>Sé</xBairro></end></fornec>';
const docDedRed = (number: number, fornec = FORNEC): string =>
  `<docDedRed><nDoc>${number}</nDoc><tpDedRed>2</tpDedRed><dtEmiDoc>2026-10-01</dtEmiDoc><vDedutivelRedutivel>1.00</vDedutivelRedutivel><vDeducaoReducao>0.10</vDeducaoReducao>${fornec}</docDedRed>`;

/** A DPS with as many deduction documents as the layout allows. */
export function longestDps(tpAmb: '1' | '2', fornec?: string): string {
  const documents = Array.from({ length: 1000 }, (_, place) => docDedRed(place + 1, fornec)).join('');
  return exampleXml({ tpAmb }).replace(/<trib>/, `<vDedRed><documentos>${documents}</documentos></vDedRed><trib>`);
}

function ofXml({ producao, integracao, provider, stranger }: Senders): readonly DearRequest[] {
  const [issue, rehearse, debug] = ['nfse/v101', 'nfse/v101/validacao', 'assinatura/verificacao'];
  const real = exampleXml({ tpAmb: '1' });
  const plain = signedBy(exampleXml(), stranger);
  const requests: DearRequest[] = [];
  for (const [name, make] of Object.entries(dearDocuments(signedBy(real, stranger), stranger.base64))) {
    const body = make();
    requests.push(post(`DPS, ${name}`, `/${producao}/api/v1/${issue}`, body, XML));
    requests.push(post(`ensaio, ${name}`, `/${integracao}/api/v1/${rehearse}`, body, XML));
    requests.push(post(`depurador, ${name}`, `/${producao}/api/v1/${debug}`, body, XML));
  }
  const shapes: Readonly<Record<string, string>> = {
    'nomes quase certos': copies('<xDescSrev>a</xDescSrev>', plain.length),
    'nomes quase certos, todos diferentes': copies((n) => `<xDescSe${n}/>`, plain.length),
    'nomes de outro lugar': copies('<vServ>1</vServ>', plain.length),
    'nomes compridos': copies((n) => `<${'xDescServ'.repeat(8)}${n}/>`, plain.length),
    'elementos repetidos': copies('<xDescServ>a</xDescServ>', plain.length),
    'grupos repetidos': copies('<toma><CPF>52998224725</CPF></toma>', plain.length),
    'documentos de dedução quase certos': copies((n) => `<docDedRed><nDco>${n}</nDco></docDedRed>`, plain.length),
  };
  for (const [name, inside] of Object.entries(shapes)) {
    const places = [
      ['em cServ', exampleXml().replace('<cTribNac>', `${inside}<cTribNac>`)],
      ['em infDPS', exampleXml().replace('<tpAmb>', `${inside}<tpAmb>`)],
    ] as const;
    for (const [where, body] of places) {
      requests.push(post(`ensaio, ${name} ${where}`, `/${integracao}/api/v1/${rehearse}`, body, XML));
      requests.push(post(`emissão, ${name} ${where}`, `/${integracao}/api/v1/${issue}`, body, XML));
    }
  }
  const value = (tag: string, text: string): string =>
    exampleXml().replace(new RegExp(`<${tag}>[^<]*`), `<${tag}>${text}`);
  const texts: Readonly<Record<string, string>> = {
    'um número comprido': value('vServ', copies('9', plain.length)),
    'um número de vírgulas': value('vServ', copies('1.', plain.length)),
    'um número de espaços': value('vServ', `${copies(' ', plain.length)}1`),
    'um texto de espaços': value('xDescServ', `a${copies(' ', plain.length)}a`),
    'um texto de linhas': value('xDescServ', copies('a\n', plain.length)),
    'uma data comprida': value('dCompet', copies('2026-', plain.length)),
    'um documento comprido': value('CNPJ', copies('1.', plain.length)),
    'um CEP comprido': value('CEP', copies('0', plain.length)),
    'um código comprido': value('cTribNac', copies('01.', plain.length)),
    'um e-mail comprido': exampleXml().replace('</toma>', `<email>${copies('a.', plain.length + 100)}@</email></toma>`),
    'um e-mail de arrobas': exampleXml().replace('</toma>', `<email>${copies('@', plain.length + 100)}</email></toma>`),
  };
  for (const [name, body] of Object.entries(texts)) {
    requests.push(post(`ensaio, ${name}`, `/${integracao}/api/v1/${rehearse}`, body, XML));
  }
  const longest = longestDps('2');
  const wrong = longest.replaceAll('<tpDedRed>2<', '<tpDedRed>x<');
  return [
    ...requests,
    post(
      'DPS com mil documentos de dedução',
      `/${producao}/api/v1/${issue}`,
      signedBy(longestDps('1'), provider),
      XML,
      true,
    ),
    post(
      'a mesma, alterada depois de assinada',
      `/${producao}/api/v1/${issue}`,
      signedBy(longestDps('1'), provider).replace('<nDoc>7<', '<nDoc>8<'),
      XML,
      true,
    ),
    post('a mesma, no depurador', `/${producao}/api/v1/${debug}`, signedBy(longestDps('1'), provider), XML, true),
    post('a mesma, no ensaio', `/${integracao}/api/v1/${rehearse}`, longest, XML, true),
    post('a mesma, na integração', `/${integracao}/api/v1/${issue}`, longest, XML, true),
    post('a mesma, com mil erros', `/${integracao}/api/v1/${rehearse}`, wrong, XML, true),
    post(
      'a mesma, com dois mil erros',
      `/${integracao}/api/v1/${rehearse}`,
      wrong.replaceAll('<vDeducaoReducao>0.10', '<vDeducaoReducao>0,1'),
      XML,
    ),
    post('uma DPS comum', `/${producao}/api/v1/${issue}`, signedBy(real, provider), XML, true),
    post(
      'DPS de 64 KiB alterada depois de assinada',
      `/${producao}/api/v1/${debug}`,
      filled('<a>b</a>', '<tpAmb>', 'before', { text: signedBy(real, provider), max: 64 * 1024 }),
      XML,
    ),
  ];
}

function ofJson({ producao, integracao, provider, stranger, cms }: Senders): readonly DearRequest[] {
  const [issue, rehearse, debug] = ['nfse/v101', 'nfse/v101/validacao', 'assinatura/verificacao'];
  const opened = corpo.trimEnd().replace(/\s*\}$/, '');
  const inside = (more: string): string => `${opened},${more}}`;
  const length = corpo.length + 10;
  const list = (unit: string | ((n: number) => string)): string => copies(unit, length + 100).replace(/,$/, '');
  const fill = (name: string, text: string): string =>
    corpo.replace(new RegExp(`("${name}": )[^\\n]*?(,?\\n)`), `$1${text}$2`);
  const documents = Array.from(
    { length: 1000 },
    (_, n) =>
      `{"numero_documento_nao_fiscal":"${n}","tipo":"2","data_emissao":"2026-10-01","valor_dedutivel":1.00,"valor":0.10}`,
  ).join(',');
  const bodies: Readonly<Record<string, string>> = {
    'nomes desconhecidos': inside(list((n) => `"a${n}":1,`)),
    'nomes quase certos': inside(list((n) => `"valor_servic${n}":1,`)),
    'nomes de muitas palavras': inside(list((n) => `"a_b_c_d_e_f_g_h_i_j_k_l_m_n_o_p_${n}":1,`)),
    'nomes quase certos e compridos': inside(
      list((n) => `"codigo_tributacao_nacional_descricao_servico_municipio_${n}":1,`),
    ),
    'nomes compridos demais': inside(list((n) => `"${'codigo_'.repeat(20)}${n}":1,`)),
    'grupos desconhecidos': inside(list((n) => `"g${n}":{"a":1},`)),
    'um endereço de nomes': corpo.replace(
      '"tomador_endereco": {',
      `"tomador_endereco": {${list((n) => `"logradour${n}":1,`)},`,
    ),
    'listas fundas': inside(`"a":${'['.repeat(30)}${'1,'.repeat(50_000)}1${']'.repeat(30)}`),
    'fundo demais': inside(`"a":${copies('[', length + 100)}`),
    'objetos vazios': inside(`"a":[${list('{},')}]`),
    'nomes repetidos': inside(list('"a":1,')),
    'um número comprido': fill('valor_servico', copies('9', length)),
    'um número de muitas casas': fill('valor_servico', `1.${copies('9', length)}`),
    'um expoente': fill('valor_servico', `1e${copies('9', length)}`),
    'um número em texto': fill('valor_servico', `"${copies('1.', length)}"`),
    'um texto comprido': fill('descricao_servico', `"${copies('a', length)}"`),
    'um texto de escapes': fill('descricao_servico', `"${copies('\\u00e7', length)}"`),
    'um texto de linhas': fill('descricao_servico', `"a${copies('\\n', length)}a"`),
    'um texto de espaços': fill('descricao_servico', `"a${copies(' ', length)}a"`),
    'um documento comprido': fill('tomador_cpf_cnpj', `"${copies('1.', length)}"`),
    'espaços entre os valores': `${copies(' ', length)}${corpo}`,
    'linhas, e um erro no fim': `${copies('\n', length)}${corpo}x`,
    'palavras sem aspas': inside(`"a":${copies('x', length)}`),
    'documentos errados': inside(`"deducao_reducao":{"documentos":[${list((n) => `{"a${n}":1},`)}]}`),
    'documentos que não são objetos': inside(`"deducao_reducao":{"documentos":[${list('1,')}]}`),
    'uma lista onde vai um texto': fill('descricao_servico', `[${list('1,')}]`),
  };
  const honest = inside(`"deducao_reducao":{"documentos":[${documents}]}`);
  const signature = (body: string | Buffer, by: Party) => ({
    ...JSON_TYPE,
    'X-DPS-Assinatura': cms(Buffer.from(body as string), by),
  });
  const small = (unit: string): string =>
    corpo.replace('Desenvolvimento de sistema de gestão', copies(unit, length, 64 * 1024));
  const changed = (body: string) => post('', '', body, signature('outro corpo', stranger)).headers;
  const near = ['a', '\\n', 'ç', '/', ' '].flatMap((unit) => {
    const body = small(unit);
    const many = `{${copies((n) => `"${n}":[1,{}],`, 10, 64 * 1024 - 20).replace(/,$/, '')}}`;
    return [
      post(`corpo de 64 KiB de "${unit}", outro assinado`, `/${producao}/api/v1/${issue}`, body, changed(body)),
      post(`depurador, 64 KiB de "${unit}", outro assinado`, `/${producao}/api/v1/${debug}`, body, changed(body)),
      ...(unit === 'a'
        ? [post('depurador, 64 KiB de valores, outro assinado', `/${producao}/api/v1/${debug}`, many, changed(many))]
        : []),
    ];
  });
  const chave = '35503082211222333000181000000000000126110000000014';
  const evento = `{"tipo_evento":"cancelamento","codigo_motivo_cancelamento":"1","descricao_motivo_cancelamento":"Erro na emissão"`;
  return [
    ...Object.entries(bodies).flatMap(([name, body]) => [
      post(`JSON, ${name}`, `/${integracao}/api/v1/${issue}`, body, JSON_TYPE),
      post(`ensaio JSON, ${name}`, `/${integracao}/api/v1/${rehearse}`, body, JSON_TYPE),
      post(`JSON em produção, ${name}`, `/${producao}/api/v1/${issue}`, body, signature(body, stranger)),
      post(`depurador JSON, ${name}`, `/${producao}/api/v1/${debug}`, body, signature(body, stranger)),
    ]),
    ...near,
    post('JSON com mil documentos de dedução', `/${integracao}/api/v1/${issue}`, honest, JSON_TYPE, true),
    post('o mesmo, no ensaio', `/${integracao}/api/v1/${rehearse}`, honest, JSON_TYPE, true),
    post('o mesmo, em produção', `/${producao}/api/v1/${issue}`, honest, signature(honest, provider), true),
    ...['nomes desconhecidos', 'nomes quase certos e compridos', 'objetos vazios', 'um texto de escapes'].map(
      (name) => {
        const body = bodies[name]!.replace(opened, evento);
        const headers = { ...JSON_TYPE, 'X-Evento-Assinatura': cms(Buffer.from(body), stranger) };
        return post(`evento, ${name}`, `/${producao}/api/v1/nfse/${chave}/eventos`, body, headers);
      },
    ),
    ...['nomes desconhecidos', 'nomes quase certos e compridos', 'objetos vazios'].map((name) =>
      post(
        `evento na integração, ${name}`,
        `/${integracao}/api/v1/nfse/${chave}/eventos`,
        bodies[name]!.replace(opened, evento),
        JSON_TYPE,
      ),
    ),
    post('um corpo no endereço antigo', `/${integracao}/api/v1/nfse`, copies('a', 0), XML),
  ];
}

/** The requests of the legacy port. */
export function dearSoap({
  producao,
  antigo,
  integracao,
  provider,
  stranger,
  cnpj,
  emissao,
}: Senders): readonly DearRequest[] {
  const list = (count: number) =>
    Array.from({ length: count }, (_, place) => ({ numero: place + 1, serie: '9', emissao }));
  const asked = (inside: string, operacao = 'RecepcionarLoteRps'): string =>
    envelope(`<n:${operacao} xmlns:n="${ABRASF}">${inside}</n:${operacao}>`);
  const text = (document: string, operacao?: string): string =>
    asked(`<parameters>${escaped(document)}</parameters>`, operacao);
  const elements = (document: string, operacao?: string): string =>
    asked(`<parameters>${document}</parameters>`, operacao);
  const at = (tenant: string): string => `/${tenant}/soap/nfes`;
  const strange = signedLot(list(100), stranger, { cnpj });
  const own = signedLot(list(100), provider, { cnpj });
  const padded = (lot: string, unit: string, count: number): string =>
    lot.replace('</Signature></Rps>', (end) =>
      end.replace('</Signature>', `<Object>${unit.repeat(count)}</Object></Signature>`),
    );
  const header = (unit: string | ((n: number) => string), lot: string, max?: number): string =>
    elements(lot).replace(
      '<e:Body>',
      (body) => `<e:Header>${copies(unit, elements(lot).length + 50, max)}</e:Header>${body}`,
    );
  const whole = loteXml(list(500), { cnpj });
  const inclusive = own.replaceAll(
    'http://www.w3.org/2001/10/xml-exc-c14n#',
    'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
  );
  const prefixes = Array.from({ length: 240 }, (_, n) => ` xmlns:p${n}="urn:${'x'.repeat(100)}${n}"`).join('');
  const used = (lot: string): string => elements(lot).replace('<e:Envelope', (tag) => `${tag}${prefixes}`);
  const consulta = consultaXml('<NumeroNfse>1</NumeroNfse>', cnpj);
  return [
    post('lote de 100 RPS em texto', at(producao), text(own), SOAP, true),
    post('lote de 100 RPS em elementos', at(producao), elements(own), SOAP, true),
    post('lote de 100 RPS em elementos, de estranho', at(producao), elements(strange), SOAP),
    post(
      'lote com enchimento em Signature, de estranho',
      at(producao),
      elements(padded(strange, '<a/>', 50_000)),
      SOAP,
    ),
    post('lote com enchimento em Signature, do prestador', at(producao), elements(padded(own, '<a/>', 50_000)), SOAP),
    post('lote com enchimento no cabeçalho, de estranho', at(producao), header('<a/>', strange, 458 * 1024), SOAP),
    post('lote com enchimento no cabeçalho, do prestador', at(producao), header('<a/>', own, 458 * 1024), SOAP),
    post('lote com texto no cabeçalho, do prestador', at(producao), header('<a>bcdefghijklmn</a>', own), SOAP),
    post('lote com 240 prefixos', at(producao), used(own), SOAP),
    post('lote com 240 prefixos, à antiga', at(antigo), used(inclusive), SOAP),
    post(
      'lote à antiga, com 240 prefixos e enchimento',
      at(antigo),
      used(inclusive).replace('<e:Body>', `<e:Header>${'<a/>'.repeat(40_000)}</e:Header><e:Body>`),
      SOAP,
    ),
    post('lote à antiga', at(antigo), elements(inclusive), SOAP),
    post('lote de 500 RPS em texto', at(integracao), text(whole), SOAP, true),
    post('lote de 500 RPS em elementos', at(integracao), elements(whole), SOAP, true),
    post(
      'lote de 500 RPS sem Discriminacao',
      at(integracao),
      elements(whole.replaceAll(/<Discriminacao>[^<]*<\/Discriminacao>/g, '')),
      SOAP,
    ),
    post('lote de nomes errados', at(integracao), elements(whole.replaceAll('Servico', 'Servicos')), SOAP),
    post(
      'lote de nomes quase certos',
      at(integracao),
      elements(loteXml([], { cnpj }).replace('<ListaRps>', `<ListaRps>${copies((n) => `<Rp${n}/>`, 2000)}`)),
      SOAP,
    ),
    post(
      'lote de elementos estranhos',
      at(integracao),
      elements(
        loteXml(list(1), { cnpj }).replace('<Servico>', `<Servico>${copies((n) => `<Discriminaca${n}/>`, 4000)}`),
      ),
      SOAP,
    ),
    post(
      'lote de Rps vazios',
      at(integracao),
      elements(loteXml([], { cnpj, quantidade: 9999 }).replace('<ListaRps>', `<ListaRps>${copies('<Rps/>', 2000)}`)),
      SOAP,
    ),
    post(
      'lote com texto dentro de texto',
      at(integracao),
      text(loteXml(list(1), { cnpj }).replace('<Discriminacao>', `<Discriminacao>${copies('&amp;amp;', 8000)}`)),
      SOAP,
    ),
    post(
      'consulta com um texto comprido',
      at(integracao),
      text(consultaXml(`<NumeroNfse>${copies('9', 3000)}</NumeroNfse>`, cnpj), 'ConsultarNfse'),
      SOAP,
    ),
    post(
      'consulta com uma inscrição comprida',
      at(integracao),
      text(
        consulta.replace(
          '<NumeroNfse>1</NumeroNfse>',
          `<Tomador><InscricaoMunicipal>${copies('9', 3000)}</InscricaoMunicipal></Tomador>`,
        ),
        'ConsultarNfse',
      ),
      SOAP,
    ),
    post(
      'consulta de elementos',
      at(integracao),
      elements(
        consulta.replace('<NumeroNfse>', `${copies((n) => `<Numero${n}/>`, 3000)}<NumeroNfse>`),
        'ConsultarNfse',
      ),
      SOAP,
    ),
    post('operação que não existe', at(integracao), elements('<a/>', `Recepcionar${'x'.repeat(900_000)}`), SOAP),
    post('texto que não é XML', at(integracao), asked(`<parameters>${copies('&lt;a ', 2000)}</parameters>`), SOAP),
    post('texto de referências', at(integracao), asked(`<parameters>${copies('&#38;', 2000)}</parameters>`), SOAP),
    post(
      'cabeçalhos que se devem entender',
      at(integracao),
      header((n) => `<h${n} e:mustUnderstand="1"/>`, loteXml(list(1), { cnpj })),
      SOAP,
    ),
  ];
}

function questions({ producao, integracao }: Senders): readonly DearRequest[] {
  const ask = (where: string, headers: Readonly<Record<string, string>> = {}): DearRequest => ({
    name: `GET ${where.slice(0, 60)}${Object.keys(headers).length === 0 ? '' : ` com ${Object.keys(headers).join(', ')}`}`,
    method: 'GET',
    path: where,
    headers,
    body: undefined,
    isHonest: true,
  });
  const long = (unit: string, count = 1_800): string =>
    encodeURIComponent(unit.repeat(Math.floor(count / encodeURIComponent(unit).length)));
  const api = `/${integracao}/api/v1`;
  return [
    ...['a', 'a ', 'ã', '%'].flatMap((unit) => [
      ask(`${api}/catalogo/municipios?nome=${long(unit)}`),
      ask(`${api}/catalogo/nbs?descricao=${long(unit)}`),
      ask(`/docs/erros?q=${long(unit)}`),
    ]),
    ask(`${api}/catalogo/nbs?per_page=100`),
    ask(`${api}/catalogo/municipios?per_page=100`),
    ask(`${api}/catalogo/codigos_tributacao_nacional?per_page=100&descricao=a`),
    ask(`${api}/catalogo/nbs?descricao=${'a+'.repeat(800)}`),
    ask(`${api}/catalogo/nbs?${'a=1&'.repeat(480)}`),
    ask(`${api}/${'a/'.repeat(900)}`),
    ask(
      `${api}/${Array.from({ length: 11 }, () => 'nfse-v101-validacao-protocolo-catalogo-assinatura'.slice(0, 79)).join('/')}`,
    ),
    ask(`${api}/nfse/${'9'.repeat(1_900)}`),
    ask(`${api}/dps/${'D'.repeat(1_900)}`),
    ask(`/docs/erros/${'E'.repeat(1_900)}`),
    ask(`/docs/${'e'.repeat(1_900)}`),
    ask('/docs/erros'),
    ask('/docs/erros.json'),
    ask('/docs'),
    ask('/docs/soap'),
    ask('/openapi.json'),
    ask('/docs/api'),
    ask('/'),
    ask(`/${integracao}/soap/nfes?wsdl`),
    ask(`/${integracao}/soap/nfes?xsd`),
    ask(`/${integracao}/soap/nfes?${'wsdl&'.repeat(380)}`),
    ask('/docs/erros', { 'If-None-Match': 'W/"x",'.repeat(4_000) }),
    ask('/openapi.json', { 'Accept-Encoding': 'gzip;q=0.0000,'.repeat(2_000) }),
    ask(`/${producao}/api/v1/prestadores/${'1'.repeat(1_800)}/situacao`),
    ask(`${api}/nfse/1`, { Accept: 'text/html,'.repeat(3_000) }),
    ask('/docs/erros', { 'X-Forwarded-For': '1.1.1.1,'.repeat(3_500) }),
  ];
}
