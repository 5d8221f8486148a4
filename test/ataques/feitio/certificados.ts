/** Certificates and chains that RFC 5280 refuses, each with a valid signature, so that the certificate alone decides. */

import { der } from '../../../src/documents/asn1.ts';
import { pemOf } from '../../../src/documents/pki.ts';
import { DAY_MS } from '../../../src/fiscal/moment.ts';
import { PROVIDER_CNPJ } from '../../support/signatures.ts';
import type { Ataque, Corpus, Veredito } from '../ataque.ts';
import { caso, makePki, NOT, NOW, type Pki, TAKEN } from './certificados-pki.ts';
import { nomes, titulares, usosDoTitular } from './certificados-titular.ts';
import * as e from './emissao.ts';
import { type Emitido, emitir } from './emissao.ts';
import { CORPO } from './envelope.ts';
import { AGORA } from './mundo.ts';

function cadeias({ raiz, meio, chaves, titular }: Pki): Ataque[] {
  const falsaRaiz = emitir({ nome: raiz.nome, chave: chaves.atacante, extensoes: e.AC });
  const falsoMeio = emitir({ nome: meio.nome, por: falsaRaiz, chave: chaves.atacante, extensoes: e.AC });
  const alheia = emitir({
    nome: 'EMPRESA ALHEIA LTDA:88888888000191',
    por: meio,
    chave: chaves.atacante,
    extensoes: [...e.TITULAR, e.doCnpj('88888888000191')],
  });
  const changed = (one: Emitido, de: string, por: string): Emitido => {
    const text = one.der.toString('latin1').replaceAll(de, por);
    return { ...one, der: Buffer.from(text, 'latin1'), nome: one.nome };
  };
  const flipped = (one: Emitido): Emitido => {
    const bytes = Buffer.from(one.der);
    bytes[bytes.length - 9]! ^= 0x01;
    return { ...one, der: bytes };
  };
  const forged = titular({ por: falsoMeio, chave: chaves.atacante });
  const doTitular = titular();
  const NO_WAY = 'Recusar: nenhuma cadeia chega a uma âncora.';
  return [
    caso('honesta-sob-a-raiz', 'Sem o que se aceita nenhuma recusa prova nada.', titular({ por: raiz }), [], TAKEN()),
    caso('honesta-com-a-autoridade', 'A autoridade do meio vem com a assinatura.', doTitular, [meio], TAKEN()),
    caso('honesta-com-a-raiz', 'Vem a cadeia inteira, com a raiz.', doTitular, [meio, raiz], TAKEN()),
    caso('honesta-fora-de-ordem', 'A cadeia vem de trás para diante.', doTitular, [raiz, meio], TAKEN()),
    caso(
      'beco-ao-lado',
      'Uma autoridade falsa, de mesmo nome, vem ao lado da verdadeira: um leitor que desiste na primeira recusa o honesto.',
      doTitular,
      [falsoMeio, meio],
      TAKEN('Aceitar: há uma cadeia que chega à âncora.'),
    ),
    caso('sem-a-autoridade', 'Falta o certificado da autoridade do meio.', doTitular, [], NOT(NO_WAY, 'AC Teste G1')),
    caso(
      'raiz-do-atacante',
      'Uma cadeia inteira do atacante, com a raiz dele junto: quem crê no que vem junto crê em qualquer um.',
      titular({ por: emitir({ nome: 'AC Raiz Alheia', chave: chaves.atacante, extensoes: e.AC }) }),
      [emitir({ nome: 'AC Raiz Alheia', chave: chaves.atacante, extensoes: e.AC })],
      NOT('Recusar: só valem as âncoras do município.'),
    ),
    caso(
      'raiz-de-mesmo-nome',
      'A raiz do atacante tem o nome da verdadeira: quem procura âncoras pelo nome a aceita.',
      forged,
      [falsoMeio, falsaRaiz],
      NOT('Recusar: uma âncora é uma chave, não um nome.'),
    ),
    caso(
      'autoridade-de-mesmo-nome',
      'O certificado diz o nome da autoridade verdadeira, que vem junto, e outra chave o assinou.',
      forged,
      [meio],
      NOT('Recusar: a assinatura não confere com a chave da autoridade.', 'não confere'),
    ),
    caso(
      'autoassinado',
      'O atacante faz o próprio certificado, com o CNPJ do prestador.',
      emitir({ chave: chaves.atacante }),
      [],
      NOT('Recusar: nenhuma autoridade responde por ele.', 'autoassinado'),
    ),
    caso(
      'autoassinado-com-o-nome-da-raiz',
      'Autoassinado, e o titular se chama como a raiz: emissor e titular conferem com a âncora.',
      emitir({ nome: raiz.nome, chave: chaves.atacante }),
      [],
      NOT('Recusar: o nome da âncora não é a âncora.'),
    ),
    caso(
      'nome-que-nao-encadeia',
      'A chave da raiz o assinou, e o emissor escrito é outro (RFC 5280, 6.1.3, a, 4).',
      titular({ por: raiz, diz: e.nomeDe('AC Que Não Há') }),
      [],
      NOT('Recusar: o nome do emissor não é o da autoridade que assinou.'),
    ),
    caso(
      'emissor-de-outra-chave',
      'O emissor escrito é a raiz, e quem o assinou é a autoridade do meio.',
      titular({ diz: raiz.nome }),
      [meio],
      NOT('Recusar: a assinatura não confere com a chave do emissor.'),
    ),
    caso(
      'cnpj-trocado',
      'Um certificado verdadeiro de outra empresa, com o CNPJ trocado pelo do prestador depois de assinado.',
      changed(alheia, '88888888000191', PROVIDER_CNPJ),
      [meio],
      NOT('Recusar: a assinatura da autoridade não confere.'),
    ),
    caso(
      'assinatura-alterada',
      'Um bit da assinatura da autoridade foi mudado.',
      flipped(doTitular),
      [meio],
      NOT('Recusar: a assinatura da autoridade não confere.'),
    ),
    caso(
      'algoritmos-que-divergem',
      'O algoritmo de dentro, que é assinado, e o de fora não são o mesmo (RFC 5280, 4.1.1.2).',
      titular({ algoritmoDeFora: e.ALGORITMOS.sha512 }),
      [meio],
      NOT('Recusar: o algoritmo de fora não é assinado, e deve repetir o de dentro.'),
    ),
  ];
}

function autoridades({ raiz, meio, chaves, elo, titular }: Pki): Ataque[] {
  const por = (nome: string, porque: string, one: Emitido, veredito: Veredito, ...above: Emitido[]): Ataque =>
    caso(nome, porque, titular({ por: one }), [one, ...above], veredito);
  const comum = emitir({
    nome: 'EMPRESA ALHEIA LTDA:88888888000191',
    por: meio,
    chave: chaves.atacante,
    extensoes: [...e.TITULAR, e.doCnpj('88888888000191')],
  });
  const abaixo = (one: Emitido, extensoes = e.AC): Emitido =>
    emitir({ nome: 'AC Abaixo', por: one, chave: chaves.abaixo, extensoes });
  const [curta, medida] = [
    elo({ extensoes: [e.autoridade(0), e.EMITE] }),
    elo({ extensoes: [e.autoridade(1), e.EMITE] }),
  ];
  const renovada = emitir({ nome: curta.nome, por: curta, chave: chaves.abaixo, extensoes: e.AC });
  const dsa = e.chaveDsa();
  const deDsa = elo({ nome: 'AC DSA', chave: dsa });
  return [
    por(
      'titular-que-emite',
      'Uma empresa com certificado honesto emite, com ele, um para o CNPJ do prestador (CVE-2002-0862).',
      comum,
      NOT('Recusar: quem emitiu não é autoridade (RFC 5280, 6.1.4, k).', 'não é autoridade certificadora'),
      meio,
    ),
    por(
      'elo-sem-basicconstraints',
      'A chave de quem emitiu admite emitir, e nada diz que é autoridade.',
      elo({ extensoes: [e.EMITE] }),
      NOT('Recusar: sem basicConstraints não é autoridade (RFC 5280, 6.1.4, k).'),
    ),
    por(
      'elo-com-ca-falso',
      'basicConstraints diz que não é autoridade, e keyUsage que pode emitir.',
      elo({ extensoes: [e.NAO_AUTORIDADE, e.EMITE] }),
      NOT('Recusar: não é autoridade (RFC 5280, 6.1.4, k).'),
    ),
    por(
      'elo-da-versao-1',
      'Quem emitiu tem um certificado da versão 1, que não tem extensões: nada o diz autoridade.',
      elo({ versao1: true }),
      NOT('Recusar: um certificado da versão 1 não emite.'),
    ),
    por(
      'elo-que-nao-emite',
      'É autoridade, e o uso da chave só admite listas de revogados, sem keyCertSign.',
      elo({ extensoes: [e.autoridade(), e.usos(6)] }),
      NOT('Recusar: a chave não pode assinar certificados (RFC 5280, 6.1.4, n).', 'keyUsage'),
    ),
    por(
      'caminho-comprido',
      'A autoridade não admite outra abaixo de si (pathLenConstraint 0), e há uma.',
      abaixo(curta),
      NOT('Recusar: a cadeia é mais comprida do que a autoridade admite (RFC 5280, 6.1.4, l).'),
      curta,
    ),
    por(
      'caminho-na-medida',
      'A autoridade admite uma abaixo de si, e há uma.',
      abaixo(medida),
      TAKEN('Aceitar: a cadeia cabe.'),
      medida,
    ),
    por(
      'caminho-com-chave-renovada',
      'A autoridade não admite outra abaixo, e emitiu para si mesma uma chave nova, que não conta (RFC 5280, 6.1.4, l).',
      renovada,
      TAKEN('Aceitar: o que ela emite para si mesma não alonga o caminho.'),
      curta,
    ),
    por(
      'elo-vencido',
      'O certificado da autoridade do meio venceu ontem.',
      elo({ fim: NOW - DAY_MS }),
      NOT('Recusar: toda a cadeia deve valer no momento.', 'venceu em'),
    ),
    por(
      'elo-que-nao-vale-ainda',
      'O certificado da autoridade do meio só vale amanhã.',
      elo({ inicio: NOW + DAY_MS }),
      NOT('Recusar: toda a cadeia deve valer no momento.', 'só vale a partir de'),
    ),
    por(
      'elo-com-extensao-critica',
      'A autoridade traz uma extensão crítica que ninguém conhece.',
      elo({ extensoes: [...e.AC, e.critica('1.2.3.4', der.null())] }),
      NOT('Recusar: o que é crítico e não se entende não se aceita (RFC 5280, 4.2).', '1.2.3.4'),
    ),
    por(
      'elo-sha1',
      'A raiz assinou a autoridade com SHA-1, que se falsifica.',
      elo({ algoritmo: e.ALGORITMOS.sha1 }),
      NOT('Recusar: com SHA-1 se fazem dois certificados da mesma assinatura.', 'SHA-1'),
    ),
    por(
      'elo-de-chave-curta',
      'A chave da autoridade tem 1024 bits, que se fatoram.',
      elo({ chave: e.chaveRsa(1_024) }),
      NOT('Recusar: o mínimo do perfil é 2048 bits.', '1024 bits'),
    ),
    caso(
      'elo-dsa',
      'A chave da autoridade é DSA.',
      titular({ por: deDsa, algoritmo: e.ALGORITMOS.dsa }),
      [deDsa],
      NOT('Recusar: DSA não se usa mais (FIPS 186-5).', 'DSA'),
    ),
    por(
      'elo-so-para-ocsp',
      'A autoridade só responde por quem responde a consultas OCSP (extendedKeyUsage), e emitiu o de quem assina.',
      elo({ extensoes: [...e.AC, e.finsCriticos('ocspSigning')] }),
      NOT('Recusar: o uso da autoridade limita o que ela emite.', 'OCSPSigning'),
    ),
    caso(
      'elo-de-outro-uso',
      'A autoridade só responde por correio, e o certificado de quem assina é de cliente.',
      titular({
        por: elo({ extensoes: [...e.AC, e.fins('emailProtection')] }),
        extensoes: [e.NAO_AUTORIDADE, e.ASSINA, e.fins('clientAuth'), e.doCnpj()],
      }),
      [elo({ extensoes: [...e.AC, e.fins('emailProtection')] })],
      NOT('Recusar: nenhum uso é admitido pela cadeia inteira.'),
    ),
    caso(
      'autoridade-que-assina',
      'A própria autoridade assina o documento, com o CNPJ do prestador no nome.',
      emitir({ por: raiz, chave: chaves.meio, extensoes: [...e.AC, e.doCnpj()] }),
      [],
      NOT('Recusar: uma autoridade emite certificados, não notas.', 'autoridade certificadora'),
    ),
  ];
}

function revogados({ raiz, meio, elo, titular, chaves }: Pki): { casos: Ataque[]; listas: string[] } {
  const doTitular = titular();
  const elos = elo({ nome: 'AC Revogada' });
  const muda = elo({ nome: 'AC Muda', chave: chaves.abaixo, extensoes: [e.autoridade(), e.usos(5)] });
  const daMuda = titular({ por: muda });
  const livre = titular();
  const falsa: Emitido = { ...meio, chave: chaves.atacante };
  return {
    casos: [
      caso(
        'revogado',
        'A autoridade revogou o certificado.',
        doTitular,
        [meio],
        NOT('Recusar: foi revogado antes do momento.', 'revogado'),
      ),
      caso(
        'elo-revogado',
        'A raiz revogou a autoridade que o emitiu.',
        titular({ por: elos }),
        [elos],
        NOT('Recusar: quem o emitiu foi revogado.', 'revogado'),
      ),
      caso(
        'lista-de-outra-chave',
        'Uma lista no nome da autoridade, assinada por outra chave, revoga um certificado honesto.',
        livre,
        [meio],
        TAKEN('Aceitar: a lista não é da autoridade; dizê-lo a quem opera.'),
      ),
      caso(
        'lista-de-quem-nao-assina-listas',
        'A chave da autoridade não admite assinar listas (cRLSign), e há uma dela que revoga o certificado.',
        daMuda,
        [muda],
        TAKEN('Aceitar: a lista não vale (RFC 5280, 6.3.3, f); dizê-lo a quem opera.'),
      ),
    ],
    listas: [
      e.listaDe(meio, [doTitular]),
      e.listaDe(raiz, [elos]),
      e.listaDe(muda, [daMuda]),
      e.listaDe(falsa, [livre]),
    ],
  };
}

export async function makeCorpus(): Promise<Corpus> {
  const pki = makePki();
  const { casos, listas } = revogados(pki);
  return {
    corpus: 'certificados',
    titulo: 'Certificados e cadeias que não valem',
    sobre:
      'Assinaturas que conferem, de certificados que não servem: cadeias sem âncora, autoridades que não o são, usos, nomes, validade, revogação. O corpo é assinado num CMS, que traz os certificados.',
    agora: AGORA,
    prestador: PROVIDER_CNPJ,
    ancoras: [pemOf('CERTIFICATE', pki.raiz.der)],
    listas,
    partes: { corpo: CORPO },
    casos: [...cadeias(pki), ...autoridades(pki), ...usosDoTitular(pki), ...nomes(pki), ...titulares(pki), ...casos],
  };
}
