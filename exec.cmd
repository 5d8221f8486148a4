@rem On Windows the scripts of package.json find this where a shell of Unix knows exec: it runs what follows.
@%*
