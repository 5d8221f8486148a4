/** The signature of a JSON body (CMS, RFC 5652), changed wherever a reader may be misled; the certificate is always valid. */
import { hash } from 'node:crypto';
import { der, readAsn1 } from '../../../src/documents/asn1.ts';
import { pemOf } from '../../../src/documents/pki.ts';
import { PROVIDER_CNPJ } from '../../support/signatures.ts';
import type { Ataque, Corpus, Veredito } from '../ataque.ts';
import { recusa } from './caso.ts';
import { algoritmos, quemAssina } from './cms-enganos.ts';
import { dobradoPor, feito, type Gente, makeGente, NOT, TAKEN } from './cms-gente.ts';
import * as c from './envelope.ts';
import { cmsDe, enviado, OID, type Torto } from './envelope.ts';
import { AGORA, dpsXml } from './mundo.ts';

function honestas({ raiz, dona }: Gente): Ataque[] {
  const com = dobradoPor(dona);
  const porChave = { sid: der.contextPrimitive(0, c.idDaChave(dona.chave)), versaoDoSignatario: 3, versao: 3 };
  return [
    com('honesta', 'Sem o que se aceita nenhuma recusa prova nada.', {}, TAKEN()),
    com('honesta-sem-atributos', 'Sem atributos assinados: o que se assina é o corpo.', { atributos: false }, TAKEN()),
    com('honesta-sha-384', 'Com SHA-384.', { resumo: 'sha384' }, TAKEN()),
    com('honesta-sha-512', 'Com SHA-512.', { resumo: 'sha512' }, TAKEN()),
    com('honesta-por-identificador', 'Quem assina é nomeado pelo identificador da chave.', porChave, TAKEN()),
    com('honesta-com-a-raiz', 'A raiz vem junto.', { certificados: [dona.der, raiz.der] }, TAKEN()),
    com(
      'honesta-cades',
      'Com signingCertificateV2, que amarra a assinatura ao certificado (CAdES).',
      (corpo) => ({ atributos: [c.deConteudo(), c.deResumo(corpo), c.deCertificado(dona)] }),
      TAKEN(),
    ),
    com(
      'honesta-cades-antiga',
      'Com signingCertificate (RFC 2634), que amarra a assinatura ao certificado pelo resumo SHA-1 dele.',
      (corpo) => ({ atributos: [c.deConteudo(), c.deResumo(corpo), c.deCertificado(dona, OID.signingCertificate)] }),
      TAKEN(),
    ),
    com(
      'honesta-com-hora',
      'Com signingTime, como assina quase todo programa.',
      (corpo) => ({ atributos: [c.deConteudo(), c.deResumo(corpo), c.deHora()] }),
      TAKEN(),
    ),
    feito(
      'honesta-em-ber',
      'Os comprimentos de fora são indefinidos (BER), como fazem bibliotecas que escrevem aos poucos.',
      (corpo) => {
        const whole = cmsDe(corpo, dona);
        // The tag and the three octets of the length are cut off.
        return Buffer.concat([Buffer.from([0x30, 0x80]), whole.subarray(4), Buffer.from([0, 0])]);
      },
      TAKEN('Aceitar: a RFC 5652 admite BER fora do que se assina.'),
    ),
    com(
      'atributo-nao-assinado',
      'Um atributo não assinado, de nome que ninguém conhece: qualquer um o põe ali.',
      { naoAssinados: [c.atributo('1.2.3.4', der.utf8('autorizado'))] },
      TAKEN('Aceitar sem lhe dar crédito: nada do que diz foi assinado.'),
    ),
  ];
}

function corpos({ dona }: Gente): Ataque[] {
  const cms = (corpo: Buffer, torto: Torto = {}): Buffer => cmsDe(corpo, dona, torto);
  const trocado = (corpo: Buffer): Buffer => Buffer.from(corpo.toString().replace('"1000.00"', '"0.01"'));
  const CHANGED = 'Recusar: o corpo não é o que foi assinado.';
  const NONE = (quer: string): Veredito => recusa('E9002', quer, undefined, 401);
  const semAtributos = cms(c.bytesDoCorpo(1), { atributos: false });
  const atributos = [c.deConteudo(), c.deResumo(c.bytesDoCorpo(1))].toSorted(Buffer.compare);
  return [
    feito(
      'sem-assinatura',
      'Um corpo sem assinatura, em produção.',
      () => undefined,
      NONE('Recusar: ninguém assinou.'),
    ),
    feito('assinatura-vazia', 'O cabeçalho está lá, e vazio.', () => '', NONE('Recusar: ninguém assinou.')),
    feito(
      'valor-trocado',
      'O valor do serviço mudou depois de assinado.',
      (corpo) => cms(trocado(corpo)),
      NOT(CHANGED),
    ),
    feito(
      'valor-trocado-sem-atributos',
      'O mesmo, numa assinatura sem atributos.',
      (corpo) => cms(trocado(corpo), { atributos: false }),
      NOT(CHANGED),
    ),
    feito(
      'assinatura-de-outro-corpo',
      'Uma assinatura verdadeira, de outra nota, vem com este corpo.',
      () => cms(c.bytesDoCorpo(999)),
      NOT(CHANGED),
    ),
    feito(
      'json-de-mesmo-sentido',
      'O corpo foi escrito de novo, com o mesmo sentido e outros bytes.',
      (corpo) => cms(Buffer.from(JSON.stringify(JSON.parse(corpo.toString()), null, 2))),
      NOT('Recusar: o que se assina são bytes, não um sentido.'),
    ),
    feito(
      'quebra-de-linha-a-mais',
      'Foi assinado o corpo com uma quebra de linha no fim, que não veio.',
      (corpo) => cms(Buffer.concat([corpo, Buffer.from('\n')])),
      NOT('Recusar: o que se assina são bytes.'),
    ),
    feito(
      'resumo-trocado',
      'O atributo messageDigest foi trocado pelo do corpo que veio, e a assinatura é a antiga.',
      (corpo) => cms(corpo, { assinado: () => der.set(c.deConteudo(), c.deResumo(trocado(corpo))) }),
      NOT('Recusar: os atributos não são os que foram assinados.'),
    ),
    enviado(
      'atributos-como-corpo',
      'Os atributos assinados de outra assinatura são o corpo, e saem do CMS: sem eles a assinatura confere com esses bytes.',
      { base64: der.set(...atributos).toString('base64') },
      cmsDe(der.set(...atributos), dona, { atributos: false }),
      recusa('E003', 'Recusar: o corpo não é JSON.', undefined, 400),
    ),
    {
      nome: 'cms-sobre-xml',
      porque: 'Um XML sem Signature vem com um CMS que confere: quem só olha se algo confere o aceita.',
      entrada: {
        para: 'emissao',
        tipo: 'application/xml',
        cabecalhos: { 'X-DPS-Assinatura': cms(Buffer.from(dpsXml(700))).toString('base64') },
        corpo: dpsXml(700),
      },
      veredito: recusa('E901', 'Recusar: um XML se assina por dentro.'),
    },
    feito(
      'base64-cortado',
      'O fim do texto em Base64 falta.',
      (corpo) => cms(corpo).toString('base64').slice(0, -400),
      NOT('Recusar: o CMS está incompleto.'),
    ),
    feito(
      'bytes-atras',
      'Bytes atrás do CMS.',
      (corpo) => Buffer.concat([cms(corpo), Buffer.from('x')]),
      NOT('Recusar: um leitor lê o CMS, outro o que vem atrás.'),
    ),
    feito(
      'duas-assinaturas-em-fila',
      'Dois CMS, um atrás do outro: qual vale?',
      (corpo) => Buffer.concat([semAtributos, cms(corpo)]),
      NOT('Recusar: o cabeçalho traz um CMS só.'),
    ),
    feito(
      'dois-cabecalhos',
      'Dois valores, separados por vírgula, como se juntam dois cabeçalhos de mesmo nome.',
      (corpo) => `${cms(corpo).toString('base64')}, ${semAtributos.toString('base64')}`,
      NOT('Recusar: o cabeçalho traz um CMS só.'),
    ),
    feito(
      'pem',
      'O CMS com a linha BEGIN na frente.',
      (corpo) => `-----BEGIN CMS-----${cms(corpo).toString('base64')}-----END CMS-----`,
      NOT('Recusar: o cabeçalho é Base64 do DER.', 'PEM'),
    ),
  ];
}

function atributosAssinados({ dona, alheia }: Gente): Ataque[] {
  const com = dobradoPor(dona);
  const zeros = c.atributo(OID.messageDigest, der.octetString(Buffer.alloc(32)));
  return [
    com(
      'atributos-com-a-marca',
      'Foi assinada a codificação com que os atributos viajam ([0]), e não a do SET (RFC 5652, 5.4).',
      { assinado: (all) => der.context(0, ...all) },
      NOT('Recusar: não é o que a RFC manda assinar.'),
    ),
    com(
      'assinado-o-corpo',
      'Há atributos, e foi assinado o corpo.',
      (corpo) => ({ assinado: () => corpo }),
      NOT('Recusar: com atributos, assinam-se os atributos.'),
    ),
    com(
      'sem-resumo',
      'Nos atributos falta messageDigest: nada amarra a assinatura ao corpo (RFC 5652, 11.2).',
      { atributos: [c.deConteudo()] },
      NOT('Recusar: messageDigest é obrigatório.'),
    ),
    com(
      'resumo-repetido',
      'messageDigest duas vezes: o de outro corpo e o deste.',
      (corpo) => ({ atributos: [c.deConteudo(), zeros, c.deResumo(corpo)] }),
      NOT('Recusar: o atributo vem uma vez (RFC 5652, 11.2).', 'duas vezes'),
    ),
    com(
      'resumo-de-dois-valores',
      'Um messageDigest com dois valores.',
      (corpo) => ({
        atributos: [
          c.deConteudo(),
          c.atributo(
            OID.messageDigest,
            der.octetString(Buffer.alloc(32)),
            der.octetString(hash('sha256', corpo, 'buffer')),
          ),
        ],
      }),
      NOT('Recusar: o atributo tem um valor (RFC 5652, 11.2).'),
    ),
    com(
      'resumo-sem-valor',
      'Um messageDigest sem valor algum.',
      { atributos: [c.deConteudo(), c.atributo(OID.messageDigest)] },
      NOT('Recusar: o atributo tem um valor (RFC 5652, 11.2).'),
    ),
    com(
      'resumo-vazio',
      'Um messageDigest de zero bytes: quem compara até onde vai o declarado o aceita.',
      { atributos: [c.deConteudo(), c.atributo(OID.messageDigest, der.octetString(Buffer.alloc(0)))] },
      NOT('Recusar: não é o resumo do corpo.'),
    ),
    com(
      'resumo-cortado',
      'Um messageDigest com os 16 primeiros bytes do resumo.',
      (corpo) => ({
        atributos: [
          c.deConteudo(),
          c.atributo(OID.messageDigest, der.octetString(hash('sha256', corpo, 'buffer').subarray(0, 16))),
        ],
      }),
      NOT('Recusar: não é o resumo do corpo.'),
    ),
    com(
      'sem-tipo',
      'Nos atributos falta contentType (RFC 5652, 11.1).',
      (corpo) => ({ atributos: [c.deResumo(corpo)] }),
      NOT('Recusar: contentType é obrigatório.'),
    ),
    com(
      'tipo-que-diverge',
      'contentType assinado é outro que o do conteúdo (RFC 5652, 11.1).',
      (corpo) => ({ atributos: [c.deConteudo(OID.signedData), c.deResumo(corpo)] }),
      NOT('Recusar: os dois devem ser iguais.', 'contentType'),
    ),
    com(
      'tipo-que-nao-e-data',
      'O conteúdo é de outro tipo, e os atributos o repetem.',
      { tipo: '1.2.3.4' },
      NOT('Recusar: o corpo é id-data.', 'id-data'),
    ),
    com(
      'cades-de-outro',
      'signingCertificateV2 é de outro certificado: a assinatura foi feita sob ele (RFC 5035).',
      (corpo) => ({ atributos: [c.deConteudo(), c.deResumo(corpo), c.deCertificado(alheia)] }),
      NOT('Recusar: foi assinado sob outro certificado.', 'signingCertificateV2'),
    ),
    com(
      'cades-antiga-de-outro',
      'signingCertificate é de outro certificado: a assinatura foi feita sob ele (RFC 2634, 5.4).',
      (corpo) => ({ atributos: [c.deConteudo(), c.deResumo(corpo), c.deCertificado(alheia, OID.signingCertificate)] }),
      NOT('Recusar: foi assinado sob outro certificado.', 'signingCertificate'),
    ),
    com(
      'atributo-sem-nome',
      'Um dos atributos não tem nome nem valores.',
      (corpo) => ({ atributos: [c.deConteudo(), c.deResumo(corpo), der.sequence()] }),
      NOT('Recusar: não é um atributo.'),
    ),
    com(
      'nao-assinado-malformado',
      'Um dos atributos não assinados não é um atributo: outro leitor o toma por alguma coisa.',
      { naoAssinados: [der.integer(1)] },
      NOT('Recusar: não é um atributo (RFC 5652, 5.3).'),
    ),
  ];
}

/** Attributes in the wrong list, or the wrong number of times (RFC 5652, 11). */
function lugares({ dona, alheia }: Gente): Ataque[] {
  const com = dobradoPor(dona);
  const ASIDE = 'Recusar: só vale assinado, e ali qualquer um o escreve.';
  const ONE = 'Recusar: o atributo vem uma vez, com um valor.';
  const fora = (nome: string, porque: string, atributo: (corpo: Buffer) => Buffer): Ataque =>
    com(nome, porque, (corpo) => ({ naoAssinados: [atributo(corpo)] }), NOT(ASIDE, 'entre os não assinados'));
  const assinado = (nome: string, porque: string, atributos: (corpo: Buffer) => Buffer[], veredito: Veredito): Ataque =>
    com(nome, porque, (corpo) => ({ atributos: atributos(corpo) }), veredito);
  const id = (oid: string): Buffer => der.oid(oid);
  return [
    fora('tipo-nao-assinado', 'contentType também entre os atributos não assinados (RFC 5652, 11.1).', () =>
      c.deConteudo(OID.signedData),
    ),
    fora(
      'resumo-nao-assinado',
      'messageDigest também entre os não assinados: quem junta as duas listas confere este (RFC 5652, 11.2).',
      () => c.deResumo(Buffer.from('outro corpo')),
    ),
    fora(
      'hora-nao-assinada',
      'signingTime entre os não assinados: uma hora que ninguém assinou (RFC 5652, 11.3).',
      () => c.deHora(),
    ),
    fora('cades-nao-assinado', 'signingCertificateV2 de outro certificado, entre os não assinados (RFC 5035, 3).', () =>
      c.deCertificado(alheia),
    ),
    fora(
      'cades-antiga-nao-assinada',
      'signingCertificate de outro certificado, entre os não assinados (RFC 2634, 5.4).',
      () => c.deCertificado(alheia, OID.signingCertificate),
    ),
    com(
      'resumo-so-nao-assinado',
      'messageDigest vem só entre os não assinados: nada do que foi assinado amarra o corpo.',
      (corpo) => ({ atributos: [c.deConteudo()], naoAssinados: [c.deResumo(corpo)] }),
      NOT(ASIDE, 'entre os não assinados'),
    ),
    assinado(
      'contra-assinatura-assinada',
      'Entre os atributos assinados vem uma contra-assinatura, que só pode ser feita depois (RFC 5652, 11.4).',
      (corpo) => [c.deConteudo(), c.deResumo(corpo), c.atributo(OID.countersignature, der.sequence())],
      NOT('Recusar: só pode vir entre os não assinados.', 'countersignature vem entre os assinados'),
    ),
    assinado(
      'tipo-repetido',
      'contentType duas vezes: o de outro conteúdo e o deste.',
      (corpo) => [c.deConteudo(), c.deConteudo(OID.signedData), c.deResumo(corpo)],
      NOT(ONE, 'duas vezes'),
    ),
    assinado(
      'tipo-de-dois-valores',
      'Um contentType com dois valores (RFC 5652, 11.1).',
      (corpo) => [c.atributo(OID.contentType, id(OID.data), id(OID.signedData)), c.deResumo(corpo)],
      NOT(ONE, 'tem 2'),
    ),
    assinado(
      'hora-repetida',
      'signingTime duas vezes: um leitor toma a primeira hora, outro a última (RFC 5652, 11.3).',
      (corpo) => [c.deConteudo(), c.deResumo(corpo), c.deHora(), c.atributo(OID.signingTime, c.hora(86_400_000))],
      NOT(ONE, 'signingTime aparece duas vezes'),
    ),
    assinado(
      'hora-de-dois-valores',
      'Um signingTime com dois valores (RFC 5652, 11.3).',
      (corpo) => [c.deConteudo(), c.deResumo(corpo), c.deHora(c.hora(86_400_000))],
      NOT(ONE, 'signingTime deve ter um valor, e tem 2'),
    ),
    assinado(
      'hora-sem-valor',
      'Um signingTime sem valor algum (RFC 5652, 11.3).',
      (corpo) => [c.deConteudo(), c.deResumo(corpo), c.atributo(OID.signingTime)],
      NOT(ONE, 'signingTime deve ter um valor, e tem 0'),
    ),
    assinado(
      'hora-que-nao-e',
      'Um signingTime que não é uma hora, e sim um texto (RFC 5652, 11.3).',
      (corpo) => [c.deConteudo(), c.deResumo(corpo), c.atributo(OID.signingTime, der.utf8('20261121120000Z'))],
      NOT('Recusar: nada do que vem fica sem ser lido.', 'signingTime'),
    ),
    assinado(
      'cades-de-dois-valores',
      'Um signingCertificateV2 com dois valores, o de outro certificado e o do signatário (RFC 5035, 3).',
      (corpo) => {
        const both = [alheia, dona].map((one) => readAsn1(c.deCertificado(one)).children[1]!.children[0]!.raw);
        return [c.deConteudo(), c.deResumo(corpo), c.atributo(OID.signingCertificateV2, ...both)];
      },
      NOT(ONE, 'signingCertificateV2 deve ter um valor'),
    ),
  ];
}

function formas({ dona }: Gente): Ataque[] {
  const com = dobradoPor(dona);
  const DETACHED = 'Recusar: o conteúdo é o corpo da requisição, e não vem duas vezes.';
  return [
    com(
      'conteudo-dentro',
      'O corpo vem também dentro do CMS.',
      (corpo) => ({ dentro: corpo }),
      NOT(DETACHED, 'destacada'),
    ),
    com(
      'outro-conteudo-dentro',
      'Dentro vem outro corpo, com que a assinatura confere: quem confere o de dentro emite o de fora.',
      { dentro: Buffer.from('{"valor_servico":"0.01"}') },
      NOT(DETACHED, 'destacada'),
    ),
    com(
      'envelope-cifrado',
      'O tipo de fora diz envelopedData, e dentro há um SignedData.',
      { envoltorio: OID.envelopedData },
      NOT('Recusar: não é um SignedData.', 'envelopedData'),
    ),
    com(
      'versao-que-nao-ha',
      'Uma versão de SignedData que não há.',
      { versao: 9 },
      NOT('Recusar: ninguém sabe o que ela muda.', 'versão'),
    ),
    com(
      'versao-do-signatario',
      'O SignerInfo nomeia por emissor e número, e diz a versão da outra forma (RFC 5652, 5.3).',
      { versaoDoSignatario: 3 },
      NOT('Recusar: a versão diz a forma.', 'versão'),
    ),
  ];
}

export async function makeCorpus(): Promise<Corpus> {
  const gente = makeGente();
  const parts = [honestas, corpos, atributosAssinados, lugares, quemAssina, algoritmos, formas];
  return {
    corpus: 'cms',
    titulo: 'CMS: a assinatura de um corpo JSON',
    sobre:
      'Um certificado que vale, e uma assinatura que não: outros bytes, atributos que faltam ou se repetem, outra chave, algoritmos que enganam, o que vem junto. O CMS vem no cabeçalho X-DPS-Assinatura.',
    agora: AGORA,
    prestador: PROVIDER_CNPJ,
    ancoras: [pemOf('CERTIFICATE', gente.raiz.der)],
    partes: { corpo: c.CORPO },
    casos: parts.flatMap((one) => one(gente)),
  };
}
