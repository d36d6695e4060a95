package Shop::Cart;

use strict;
use List::Util qw(sum);

our $VERSION = '1.0';

# Makes a cart.
sub new {
    my ($class) = @_;
    return bless {}, $class;
}

sub total {
    my ($self) = @_;
    return sum(@{ $self->items() });
}

1;
