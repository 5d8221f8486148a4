/** Certificates of a signer that must not sign this document: by key usage, by names, by dates, by holder. */

import { der } from '../../../src/documents/asn1.ts';
import { DAY_MS } from '../../../src/fiscal/moment.ts';
import { PROVIDER_CNPJ } from '../../support/signatures.ts';
import type { Ataque, Veredito } from '../ataque.ts';
import { caso, NOT, NOW, OTHER_PARTY, OUT_OF_DATE, type Pki, TAKEN } from './certificados-pki.ts';
import * as e from './emissao.ts';
import { emitir, type Pedido } from './emissao.ts';

export function usosDoTitular({ titular, meio }: Pki): Ataque[] {
  const com = (nome: string, porque: string, extensoes: readonly Buffer[], veredito: Veredito): Ataque =>
    caso(nome, porque, titular({ extensoes: [...extensoes, e.doCnpj()] }), [meio], veredito);
  const END = [e.NAO_AUTORIDADE, e.ASSINA];
  const SERVER = 'Recusar: o certificado de um servidor não assina notas.';
  return [
    com(
      'uso-de-servidor',
      'extendedKeyUsage só admite serverAuth, e não é crítica.',
      [...END, e.fins('serverAuth')],
      NOT(SERVER, 'serverAuth'),
    ),
    com(
      'uso-de-servidor-critico',
      'extendedKeyUsage crítica que só admite serverAuth.',
      [...END, e.finsCriticos('serverAuth')],
      NOT(SERVER, 'serverAuth'),
    ),
    com(
      'uso-de-carimbo',
      'extendedKeyUsage crítica que só admite carimbos do tempo.',
      [...END, e.finsCriticos('timeStamping')],
      NOT('Recusar: é de outro uso.', 'timeStamping'),
    ),
    com(
      'uso-nenhum',
      'extendedKeyUsage sem nenhum uso, que a RFC 5280 não admite.',
      [...END, e.fins()],
      NOT('Recusar: não admite uso algum.'),
    ),
    com(
      'uso-de-cliente-entre-outros',
      'extendedKeyUsage crítica com codeSigning e clientAuth.',
      [...END, e.finsCriticos('codeSigning', 'clientAuth')],
      TAKEN('Aceitar: um dos usos serve.'),
    ),
    com(
      'uso-qualquer',
      'anyExtendedKeyUsage não limita nada (RFC 5280, 4.2.1.12).',
      [...END, e.fins('any')],
      TAKEN('Aceitar: qualquer uso.'),
    ),
    com('sem-uso-estendido', 'Sem extendedKeyUsage não há limite.', END, TAKEN('Aceitar: nada limita o uso.')),
    com(
      'chave-que-so-cifra',
      'keyUsage só admite cifrar chaves.',
      [e.NAO_AUTORIDADE, e.usos(2)],
      NOT('Recusar: a chave não assina (RFC 5280, 4.2.1.3).', 'keyEncipherment'),
    ),
    com(
      'chave-que-so-se-obriga',
      'keyUsage só admite nonRepudiation, que é para assinar documentos.',
      [e.NAO_AUTORIDADE, e.usos(1)],
      TAKEN('Aceitar: serve para assinar documentos.'),
    ),
    com(
      'extensao-critica',
      'Uma extensão crítica que ninguém conhece.',
      [...e.TITULAR, e.critica('1.2.3.4', der.null())],
      NOT('Recusar: o que é crítico e não se entende não se aceita (RFC 5280, 4.2).', '1.2.3.4'),
    ),
    com(
      'extensao-que-nao-e-critica',
      'A mesma extensão, sem ser crítica.',
      [...e.TITULAR, e.extensao('1.2.3.4', der.null())],
      TAKEN('Aceitar: passa-se por cima dela.'),
    ),
  ];
}

export function nomes({ chaves, elo, titular }: Pki): Ataque[] {
  const por = (nome: string, porque: string, value: Buffer, veredito: Veredito, pedido: Pedido = {}): Ataque => {
    const one = elo({ extensoes: [...e.AC, e.restrita(value)] });
    return caso(nome, porque, titular({ por: one, ...pedido }), [one], veredito);
  };
  const com = (...more: readonly Buffer[]): Pedido => ({
    extensoes: [...e.TITULAR, e.alternativos(e.campo(e.OID_CNPJ, PROVIDER_CNPJ), ...more)],
  });
  const OUT = 'Recusar: a autoridade não responde por esse nome (RFC 5280, 6.1.3, b e c).';
  const org = (name: string): Buffer =>
    e.deNome(
      der.sequence(
        der.set(der.sequence(der.oid('2.5.4.6'), der.printable('BR'))),
        der.set(der.sequence(der.oid('2.5.4.10'), der.utf8(name))),
      ),
    );
  const livre = elo({ extensoes: [...e.AC, e.extensao('2.5.29.30', e.restricoes([e.host('exemplo.com.br')]))] });
  const estreita = elo({ extensoes: [...e.AC, e.restrita(e.restricoes([e.host('exemplo.com.br')]))] });
  const devolve = emitir({
    nome: 'AC Abaixo',
    por: estreita,
    chave: chaves.abaixo,
    extensoes: [...e.AC, e.restrita(e.restricoes([e.host('exemplo.org')]))],
  });
  return [
    por(
      'nomes-de-outra-organizacao',
      'A autoridade só responde por titulares de outra organização.',
      e.restricoes([org('Alheia')]),
      NOT(OUT, 'nameConstraints'),
    ),
    por(
      'cnpj-excluido',
      'A autoridade exclui o CNPJ do prestador (otherName da ICP-Brasil).',
      e.restricoes([], [e.campo(e.OID_CNPJ, PROVIDER_CNPJ)]),
      NOT(OUT, 'nameConstraints'),
    ),
    por(
      'cnpj-de-outro-admitido',
      'A autoridade só responde pelo CNPJ de outra empresa.',
      e.restricoes([e.campo(e.OID_CNPJ, '88888888000191')]),
      NOT(OUT, 'nameConstraints'),
    ),
    por(
      'email-fora',
      'A autoridade só responde por caixas de um domínio, e a do titular é de outro.',
      e.restricoes([e.email('exemplo.com.br')]),
      NOT(OUT, 'nameConstraints'),
      com(e.email('x@exemplo.org')),
    ),
    por(
      'host-que-termina-igual',
      'O nome termina como o domínio admitido, e é de outro.',
      e.restricoes([e.host('exemplo.com.br')]),
      NOT(OUT, 'nameConstraints'),
      com(e.host('falsoexemplo.com.br')),
    ),
    por(
      'host-excluido-no-admitido',
      'O nome está no que se admite, e também no que se exclui.',
      e.restricoes([e.host('exemplo.com.br')], [e.host('x.exemplo.com.br')]),
      NOT(OUT, 'nameConstraints'),
      com(e.host('www.x.exemplo.com.br')),
    ),
    por(
      'restricoes-vazias',
      'Restrições que não restringem nada, o que a RFC 5280 não admite (4.2.1.10).',
      der.sequence(),
      NOT('Recusar: não é uma restrição que se entenda.', 'nameConstraints'),
    ),
    caso(
      'restricoes-que-nao-sao-criticas',
      'Restrições de nomes sem a marca de críticas valem do mesmo modo.',
      titular({ por: livre, ...com(e.host('exemplo.org')) }),
      [livre],
      NOT(OUT, 'nameConstraints'),
    ),
    caso(
      'abaixo-nao-devolve',
      'A autoridade de baixo admite de novo o que a de cima deixou fora.',
      titular({ por: devolve, ...com(e.host('exemplo.org')) }),
      [devolve, estreita],
      NOT(OUT, 'nameConstraints'),
    ),
  ];
}

export function titulares({ meio, titular, raiz, chaves }: Pki): Ataque[] {
  const com = (nome: string, porque: string, pedido: Pedido, veredito: Veredito): Ataque =>
    caso(nome, porque, titular(pedido), [meio], veredito);
  const OTHER = 'Recusar: o certificado não é do prestador.';
  const repetida = [...e.TITULAR, e.doCnpj('88888888000191'), e.doCnpj()];
  return [
    com('vencido', 'O certificado venceu ontem.', { fim: NOW - DAY_MS }, OUT_OF_DATE('Recusar: fora da validade.')),
    com(
      'vencido-ha-um-segundo',
      'O certificado venceu há um segundo.',
      { fim: NOW - 1_000 },
      OUT_OF_DATE('Recusar: fora da validade.'),
    ),
    com(
      'no-ultimo-segundo',
      'O certificado vence neste segundo, que ainda conta (RFC 5280, 4.1.2.5).',
      { fim: NOW },
      TAKEN('Aceitar: os dois extremos contam.'),
    ),
    com(
      'nao-vale-ainda',
      'O certificado só vale amanhã.',
      { inicio: NOW + DAY_MS },
      OUT_OF_DATE('Recusar: fora da validade.'),
    ),
    com(
      'sha1',
      'A autoridade assinou o certificado com SHA-1.',
      { algoritmo: e.ALGORITMOS.sha1 },
      NOT('Recusar: SHA-1 se falsifica.', 'SHA-1'),
    ),
    com(
      'md5',
      'A autoridade assinou o certificado com MD5, com que já se falsificou uma autoridade.',
      { algoritmo: e.ALGORITMOS.md5 },
      NOT('Recusar: MD5 se falsifica.', 'MD5'),
    ),
    com(
      'chave-curta',
      'A chave do titular tem 1024 bits.',
      { chave: e.chaveRsa(1_024) },
      NOT('Recusar: o mínimo do perfil é 2048 bits.', '1024 bits'),
    ),
    com(
      'de-outra-empresa',
      'Um certificado honesto de outra empresa.',
      { nome: 'EMPRESA ALHEIA LTDA:88888888000191', extensoes: [...e.TITULAR, e.doCnpj('88888888000191')] },
      OTHER_PARTY(OTHER),
    ),
    com(
      'cnpj-no-nome-e-outro-no-campo',
      'O CN termina no CNPJ do prestador, e o campo da ICP-Brasil, que vale mais, diz outro.',
      { extensoes: [...e.TITULAR, e.doCnpj('88888888000191')] },
      OTHER_PARTY(OTHER),
    ),
    com(
      'cnpj-na-unidade',
      'O CNPJ do prestador só está num OU do nome.',
      { nome: e.nomeDe('EMPRESA ALHEIA LTDA', 'ICP-Brasil de Teste', PROVIDER_CNPJ), extensoes: e.TITULAR },
      OTHER_PARTY('Recusar: o CNPJ só vale no seu campo ou no fim do CN.'),
    ),
    com(
      'cnpj-no-campo-do-responsavel',
      'O CNPJ do prestador está no campo dos dados do responsável (2.16.76.1.3.4), que não é do titular.',
      {
        nome: 'EMPRESA ALHEIA LTDA',
        extensoes: [...e.TITULAR, e.alternativos(e.campo('2.16.76.1.3.4', PROVIDER_CNPJ))],
      },
      OTHER_PARTY('Recusar: esse campo não diz quem é o titular.'),
    ),
    com(
      'campo-repetido',
      'A extensão subjectAltName duas vezes, com dois CNPJs: cada leitor lê uma.',
      { extensoes: repetida },
      NOT('Recusar: nenhuma extensão se repete (RFC 5280, 4.2).'),
    ),
    com(
      'restricoes-no-titular',
      'Restrições de nomes no certificado de quem assina, onde a RFC 5280 não as admite (4.2.1.10).',
      { extensoes: [...e.TITULAR, e.doCnpj(), e.restrita(e.restricoes([e.host('exemplo.com.br')]))] },
      NOT('Recusar: só o de uma autoridade as traz.', 'nameConstraints'),
    ),
    caso(
      'versao-1',
      'Um certificado da versão 1, sem extensões: o CNPJ está no CN, e nada limita o uso.',
      titular({ por: raiz, versao1: true, chave: chaves.titular }),
      [],
      TAKEN('Aceitar: quem assina pode ser da versão 1; quem emite, não.'),
    ),
  ];
}
